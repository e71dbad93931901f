"""How client commands find a control plane to talk to."""

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop.client import DesktopClient
from tools.settings import Settings

from .up import running

Json = dict[str, Any]


class NoPlane(Exception):
    """No control plane could be found."""


@dataclass(frozen=True)
class Found:
    """A control plane, and how to call it."""

    client: DesktopClient
    """Speaks HTTP and JSON with any of our services."""
    url: str
    sign_in: str | None = None
    """A link that signs a browser in; ``None`` when only the plane itself can make one."""


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
        raise NoPlane(
            f"no token: set DESKHAND_TOKEN, or make {file} readable ({error.strerror})"
        ) from error


@asynccontextmanager
async def connected(settings: Settings, url: str | None) -> AsyncIterator[Found]:
    """Yield the control plane that runs, or one of our own that ends with the block."""
    address = located(settings, url, os.environ)
    if address is not None:
        async with DesktopClient(address, token_of(settings, os.environ)) as client:
            yield Found(client, address)
        return
    async with (
        running(settings, any_port=True) as own,
        DesktopClient(own.address.url, own.plane.token) as client,
    ):
        yield Found(client, own.address.url, own.link)
