"""The protections that a desktop of each level reports."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deskhand.desktop.isolation.protections import NAMES
from tests.system.services import DESKHAND, Service, service

pytestmark = pytest.mark.x11

SHARED = "the desktop runs as the user who started it"
REQUESTED = "the desktop runs as a user that was requested"


def reported(desktop: Service) -> dict[str, str]:
    """Return each protection that is missing, with its reason."""
    found = desktop.get("/api/v0/desktop")["protections"]
    assert [entry["name"] for entry in found] == list(NAMES)
    return {entry["name"]: entry["because"] for entry in found if entry["state"] == "none"}


@contextmanager
def at_level_shared(errors: Path) -> Iterator[Service]:
    plain: tuple[str, ...] = (DESKHAND,)
    if os.geteuid() == 0:
        # Without privileges, and yet an interpreter in root's home can be read.
        plain = ("unshare", "--user", "--map-user=65534", "--map-group=65534", DESKHAND)
    # A short path: the desktop binds sockets below it.
    with tempfile.TemporaryDirectory(prefix="deskhand-", dir="/tmp") as folder:
        environment = {"HOME": folder, "DESKHAND_RUN_DIR": f"{folder}/run"}
        with service(errors, "desktop", environment=environment, program=plain) as found:
            yield found


def test_a_shared_desktop_lacks_all(tmp_path: Path) -> None:
    with at_level_shared(tmp_path / "x.log") as desktop:
        assert reported(desktop) == dict.fromkeys(NAMES, SHARED)
        assert desktop.get("/api/v0/desktop")["limits"] is None


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a desktop as another user")
def test_a_desktop_of_a_requested_user_lacks_all(tmp_path: Path) -> None:
    with service(tmp_path / "x.log", "desktop", "--user", "daemon") as desktop:
        assert reported(desktop) == dict.fromkeys(NAMES, REQUESTED)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root separates desktops")
def test_a_desktop_of_root_lacks_none(tmp_path: Path) -> None:
    with service(tmp_path / "x.log", "desktop") as desktop:
        assert reported(desktop) == {}
        assert "missing_protections" not in desktop.ready


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root separates desktops")
def test_refused_namespaces_are_reported(tmp_path: Path) -> None:
    environment = {"DESKHAND_NAMESPACES": "off"}
    with service(tmp_path / "x.log", "desktop", environment=environment) as desktop:
        assert reported(desktop)["namespaces"] == "DESKHAND_NAMESPACES is off"
        because = "namespaces: none, because DESKHAND_NAMESPACES is off"
        assert desktop.ready["missing_protections"] == [because]
