"""Facts of a control plane for its status."""

from collections.abc import Sequence
from importlib.metadata import version

from deskhand.tools.agents.driving.turn_tasks import Supervisor
from deskhand.tools.agents.providers.selection import Models
from deskhand.tools.control_plane.protections import PlaneProtection
from deskhand.tools.control_plane.routes.status import ServiceFacts
from deskhand.tools.control_plane.settings import Settings

from .fleet import limits_in_force
from .launching import DesktopLaunching


def service_facts(
    settings: Settings,
    models: Models,
    supervisor: Supervisor,
    launching: DesktopLaunching,
    protections: Sequence[PlaneProtection],
) -> ServiceFacts:
    """Return the present facts; ``protections`` are those of the control plane."""
    limits = limits_in_force(settings, launching)
    return ServiceFacts(
        *(version("deskhand"), models.usual(), models.has_key, settings.data_dir),
        resumed_by_supervisor=supervisor.resumed,
        desktop_limits=None if limits is None else limits._asdict(),
        protections=protections,
    )
