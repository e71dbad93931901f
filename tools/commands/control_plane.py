"""Address and token of the running control plane, for the settings of a command."""

from collections.abc import Mapping

from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.client.errors import NoControlPlane as NoControlPlane
from deskhand.tools.client.running_plane import plane_address, plane_token, plane_trust
from deskhand.tools.control_plane.settings import Settings


def no_answer(address: str, error: Exception) -> NoControlPlane:
    """Return the error for an address that does not answer, with the reason."""
    reason = str(error).strip().rstrip(".")
    because = f" ({reason})" if reason else ""
    return NoControlPlane(f"no control plane answers at {address}{because}; start one: deskhand up")


def find_address(settings: Settings, url: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the address of the running control plane, or ``None``; see `plane_address`."""
    return plane_address(settings.data_dir, url, environment)


def client_of(settings: Settings, address: str, environment: Mapping[str, str]) -> DesktopClient:
    """Return a client of the control plane at an address; raises `NoControlPlane`."""
    trust = plane_trust(settings.data_dir, address, environment)
    return DesktopClient(address, read_token(settings, environment), trust)


def read_token(settings: Settings, environment: Mapping[str, str]) -> str:
    """Return the access token; raises `NoControlPlane` if there is none."""
    return plane_token(settings.data_dir, environment)
