"""The protections that a desktop of each level reports."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from deskhand.desktop.isolation.protections import COSTS, LOSSES, NAMES
from tests.system.services import (
    DESKHAND,
    PATIENCE,
    Service,
    at_level_shared,
    service,
    unprivileged,
)

pytestmark = pytest.mark.x11

SHARED = "the desktop runs as the user who started it"
REQUESTED = "the desktop runs as a user that was requested"


def reported(desktop: Service) -> dict[str, str]:
    """Return each protection that is missing, with its reason."""
    found = desktop.get("/api/v0/desktop")["protections"]
    assert [entry["name"] for entry in found] == list(NAMES)
    return {entry["name"]: entry["because"] for entry in found if entry["state"] == "none"}


def lasting(desktop: Service) -> list[str] | None:
    """Return the directories whose files outlive a desktop; None if all may."""
    answer = desktop.get("/api/v0/context-config?parts=false")
    assert answer["home"].startswith("/")
    found: list[str] | None = answer["lasting_dirs"]
    return found


def named_by_doctor(program: tuple[str, ...], data: Path) -> dict[str, str]:
    """Return what ``deskhand doctor`` states of each protection."""
    ended = subprocess.run(
        [*program, "doctor", "--json", "--data-dir", str(data)],
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )
    findings = json.loads(ended.stdout)["findings"]
    kind = "protection "
    found = {one["name"]: one["detail"] for one in findings if one["name"].startswith(kind)}
    return {name.removeprefix(kind): detail for name, detail in found.items()}


def test_a_shared_desktop_lacks_all(tmp_path: Path) -> None:
    with at_level_shared(tmp_path / "x.log") as desktop:
        assert reported(desktop) == dict.fromkeys(NAMES, SHARED)
        assert desktop.get("/api/v0/desktop")["limits"] is None
        assert lasting(desktop) is None


@pytest.mark.root
@pytest.mark.soak
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a desktop as another user")
def test_a_desktop_of_a_requested_user_lacks_all(tmp_path: Path) -> None:
    with service(tmp_path / "x.log", "desktop", "--user", "daemon") as desktop:
        assert reported(desktop) == dict.fromkeys(NAMES, REQUESTED)
        assert lasting(desktop) is None


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root separates desktops")
def test_a_desktop_of_root_lacks_none(desktop: Service) -> None:
    assert reported(desktop) == {}
    assert "missing_protections" not in desktop.ready
    assert lasting(desktop) == []


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root separates desktops")
def test_refused_namespaces_are_reported(tmp_path: Path) -> None:
    environment = {"DESKHAND_NAMESPACES": "off"}
    with service(tmp_path / "x.log", "desktop", environment=environment) as desktop:
        assert reported(desktop)["namespaces"] == "DESKHAND_NAMESPACES is off"
        because = "namespaces: none, because DESKHAND_NAMESPACES is off"
        assert desktop.ready["missing_protections"] == [because]


def test_the_doctor_names_each_protection_that_a_shared_desktop_lacks(tmp_path: Path) -> None:
    found = named_by_doctor(unprivileged(), tmp_path / "data")
    assert found == {name: f"none, because {SHARED}; {LOSSES[name]}" for name in NAMES}


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root separates desktops")
def test_the_doctor_names_the_same_protections_as_a_desktop_of_root(
    desktop: Service, tmp_path: Path
) -> None:
    entries = desktop.get("/api/v0/desktop")["protections"]
    found = named_by_doctor((DESKHAND,), tmp_path / "data")
    assert list(found) == list(NAMES)
    for one in entries:
        # The reason may go on with what only the desktop knows.
        because = f"{one['state']}, because {one['because']}" if one["because"] else one["state"]
        name = one["name"]
        stated = found[name].removesuffix(f"; {LOSSES[name]}")
        assert because.startswith(stated.removesuffix(f"; {COSTS.get(name)}"))


def test_the_readme_names_each_protection() -> None:
    readme = Path(__file__).parents[2].joinpath("README.md").read_text()
    section = readme.partition("\n## Security\n")[2].partition("\n## ")[0]
    assert [name for name in NAMES if f"`{name}`" not in section] == []


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only it makes network namespaces")
def test_without_the_proxy_a_list_is_refused_at_the_start_and_the_package_is_named() -> None:
    hide = 'mount --bind /dev/null "$(readlink -f /usr/bin/tinyproxy)" && exec "$0" "$@"'
    started = subprocess.run(
        [
            *("unshare", "--mount", "sh", "-c", hide, DESKHAND, "desktop"),
            *("--egress", "list", "--egress-allow", "allowed.test"),
        ],
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )
    assert started.returncode == 4, started
    assert "tinyproxy is not installed (apt-get install tinyproxy-bin)" in started.stderr
