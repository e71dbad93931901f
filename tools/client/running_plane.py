"""Address and token of the control plane that runs on this machine, as it publishes them."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs

from deskhand.desktop.isolation.process_identity import boot_id, start_time
from deskhand.desktop.server_trust.server_trust import ServerTrust, trust_of

from .errors import NoControlPlane

Json = dict[str, Any]


def default_data_dir() -> Path:
    """Return this user's data directory; that of the system for root."""
    if os.geteuid() == 0:
        # Run by root, Deskhand is a system service: its state belongs below /var/lib (hier(7)).
        return Path("/var/lib/deskhand/data")
    return Path(platformdirs.user_data_dir("deskhand"))


def plane_address(data_dir: Path, url: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the address of the running control plane, or ``None``.

    The argument precedes ``DESKHAND_URL``, and that the file in the data directory.
    """
    # A named address is not checked: the control plane may run on another machine.
    named = url or environment.get("DESKHAND_URL")
    if named:
        return named
    found = _running_plane(data_dir)
    return str(found["url"]) if found else None


def plane_trust(data_dir: Path, address: str, environment: Mapping[str, str]) -> ServerTrust:
    """Return how a client recognizes the control plane at an address, over TLS.

    One that runs here publishes its certificate: its names are those for other machines.
    """
    found = _running_plane(data_dir) if address.startswith("https:") else {}
    if found.get("url") == address and "certificate" in found:
        return ServerTrust(certificate=str(found["certificate"]))
    return trust_of(environment)


def plane_pages(data_dir: Path, address: str) -> str:
    """Return the address of the pages of a control plane, for links; empty if it has none."""
    found = _running_plane(data_dir)
    if found.get("url") == address and "pages" in found:
        return str(found["pages"])
    return "" if address.startswith("unix:") else address


def plane_token(data_dir: Path, environment: Mapping[str, str]) -> str:
    """Return the access token.

    Raises:
        NoControlPlane: If there is none; the text names where it is expected.
    """
    if environment.get("DESKHAND_TOKEN"):
        return environment["DESKHAND_TOKEN"]
    # With ``--token-file`` the token is outside of the data directory; the running control plane
    # records where.
    file = Path(_running_plane(data_dir).get("token_file") or data_dir / "token")
    try:
        return file.read_text().strip()
    except OSError as error:
        raise NoControlPlane(
            f"no token: set DESKHAND_TOKEN, or make {file} readable ({error.strerror})"
        ) from error


def _running_plane(data_dir: Path) -> Json:
    """Return the file that a control plane writes while it runs; empty if none runs."""
    file = data_dir / "run" / "plane.json"
    try:
        found: Json = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return found if _runs(found) else {}


def _runs(found: Json) -> bool:
    """Return whether the process that wrote the file still runs."""
    # After a crash the file is still there. A program of an agent that gets the pid, and takes the
    # address, would receive the token.
    started = start_time(found["pid"])
    if started is None:
        return False
    # A control plane of an earlier version has written the pid only.
    return "started" not in found or (found["boot"], found["started"]) == (boot_id(), started)
