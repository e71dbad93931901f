"""What can be checked before an evaluation starts anything: settings, model and key."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields

from deskhand.tools.agents.providers.environment.installed import has_client
from deskhand.tools.agents.providers.port import ProviderAccount
from deskhand.tools.agents.providers.provider_table import accounts_in, key_variables
from deskhand.tools.agents.providers.selection import SCRIPTED_DEFAULTS, Models
from deskhand.tools.agents.scripted.script.library import packaged_scripts
from deskhand.tools.commands.terminal import settings as read_settings
from deskhand.tools.control_plane.settings import BadSetting, Settings
from deskhand.tools.conversation.errors import NoModel
from deskhand.tools.documents.documents import nearest

OWN = frozenset(
    {"data_dir", "listen", "model", "most_desktops", "keep_desktops", "egress_grants", "notify_url"}
)
"""Settings that the evaluation itself decides."""


class _Available(Exception):
    """The account of a model would be opened now."""


def read_given_settings(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the settings of ``KEY=VALUE`` texts.

    Raises:
        BadSetting: If a name or value is wrong.
    """
    known = [field.name for field in fields(Settings) if field.name not in {*OWN, "sources"}]
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise BadSetting("--set", f"{text!r} is not KEY=VALUE")
        if name in OWN:
            raise BadSetting("--set", f"{name} is decided by the evaluation")
        if name not in known:
            raise BadSetting("--set", f"{name!r} is no setting; {nearest(name, known)}")
        found[name] = value
    return tuple(sorted(found.items()))


def check_settings(settings: Sequence[tuple[str, str]], environment: Mapping[str, str]) -> Settings:
    """Return the settings of the control plane to start.

    Raises:
        BadSetting: If a value is wrong.
    """
    changed = {f"DESKHAND_{name.upper()}": value for name, value in settings}
    return read_settings({}, {**environment, **changed})


def usable_model(name: str | None, settings: Settings, environment: Mapping[str, str]) -> str:
    """Return the full name of a model that can be asked; without a name the usual one.

    Raises:
        NoModel: If there is none, or its key or client is missing.
    """

    def open_account(_: str) -> ProviderAccount:
        raise _Available

    models = Models(
        chosen=settings.model,
        accounts=accounts_in(environment),
        scripts=lambda: tuple(script.name for script in packaged_scripts()),
        has_client=has_client,
        open_account=open_account,
    )
    chosen = name or models.usual()
    if name is None and chosen in SCRIPTED_DEFAULTS.values():
        raise NoModel(
            f"no model: set {key_variables()}, or give --oracle to play the tasks' scripts"
        )
    with suppress(_Available):
        models.resolve(chosen, role="child")
    return chosen


def starts_as_root() -> bool:
    """Return whether desktops have users and networks of their own."""
    return os.geteuid() == 0
