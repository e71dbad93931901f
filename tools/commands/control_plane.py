"""Where a running control plane is, and the token it takes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deskhand.tools.control_plane.settings import Settings

Json = dict[str, Any]


class NoControlPlane(Exception):
    """No control plane could be found."""


def located(settings: Settings, url: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the address of the control plane that runs, if one is named or noted."""
    named = url or environment.get("DESKHAND_URL")
    if named:
        return named
    noted = _noted(settings)
    return str(noted["url"]) if noted else None


def _noted(settings: Settings) -> Json:
    """Return what the control plane of the data directory says of itself while it runs."""
    file = settings.data_dir / "run" / "plane.json"
    try:
        noted: Json = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return noted if Path(f"/proc/{noted['pid']}").exists() else {}


def token_of(settings: Settings, environment: Mapping[str, str]) -> str:
    """Return the token to show.

    Raises:
        NoPlane: If there is none, with where it is looked for.
    """
    if environment.get("DESKHAND_TOKEN"):
        return environment["DESKHAND_TOKEN"]
    file = Path(_noted(settings).get("token_file") or settings.data_dir / "token")
    try:
        return file.read_text().strip()
    except OSError as error:
        raise NoControlPlane(
            f"no token: set DESKHAND_TOKEN, or make {file} readable ({error.strerror})"
        ) from error
