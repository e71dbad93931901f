"""The container image, as far as it can be checked without a Docker daemon."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from deskhand.tools.control_plane.settings import load
from deskhand.tools.remote_access.errors import InvalidRemoteAccess
from deskhand.tools.remote_access.exposure import check_exposure
from deskhand.vncbridge.server.loopback import is_loopback
from deskhand.vncbridge.server.server import parse_address

ROOT = Path(__file__).parents[2]
CONTAINER = ROOT / "deploy" / "container"
DOCKERFILE = (CONTAINER / "Dockerfile").read_text()
NEED_ROOT = {"slirp4netns", "nftables", "tinyproxy-bin"}
"""Networks of desktops, which the user of the container cannot make."""
ONLY_BOOTSTRAP = {"make", "python3-venv"}
ONLY_IMAGE = {"chromium", "python3", "tini"}


def needed() -> set[str]:
    text = (ROOT / "deploy" / "bootstrap").read_text()
    listed = text[text.index("needed=(") + len("needed=(") : text.index("\n)\n")]
    return set(re.sub(r"#.*", "", listed).split())


def test_the_image_has_the_packages_that_a_desktop_needs() -> None:
    stage = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    listed = stage[stage.index("--no-install-recommends") : stage.index("&& rm -rf")]
    installed = set(listed.replace("\\", " ").split()[1:])
    assert installed == (needed() - NEED_ROOT - ONLY_BOOTSTRAP) | ONLY_IMAGE


def test_package_names_have_the_form_of_debian_and_ubuntu() -> None:
    """Debian 13 and Ubuntu 24.04 are not at hand: the names are only checked by policy, 5.6.1."""
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name) for name in needed())


def test_it_runs_without_root_and_reports_its_health() -> None:
    assert DOCKERFILE.count("\nFROM ") == 2
    assert re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE) == ["1000"]
    assert "HEALTHCHECK" in DOCKERFILE


def image_environment() -> dict[str, str]:
    """Return the variables of the last stage."""
    stage = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :].replace("\\\n", " ")
    words = " ".join(re.findall(r"^ENV (.+)$", stage, re.MULTILINE)).split()
    return dict(word.split("=", 1) for word in words)


def compose_service() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CONTAINER / "compose.yaml").read_text())
    service: dict[str, Any] = found["services"]["deskhand"]
    return service


def exposed(environment: Mapping[str, object]) -> bool:
    """Return whether a control plane with these settings may serve other machines in clear."""
    texts = {name: str(value) for name, value in environment.items() if value is not None}
    settings = load({}, texts, "", Path("/data"))
    host = parse_address(settings.listen).host
    try:
        check_exposure(host, tls=bool(settings.tls_cert), insecure=settings.insecure)
    except InvalidRemoteAccess:
        return False
    return not is_loopback(host)


def test_the_image_alone_serves_no_other_machine_in_clear() -> None:
    environment = image_environment()
    assert not exposed(environment)
    # Neither with the address alone: the second setting says that there is no TLS.
    assert not exposed(environment | {"DESKHAND_LISTEN": "0.0.0.0:7777"})
    assert exposed(environment | {"DESKHAND_LISTEN": "0.0.0.0:7777", "DESKHAND_INSECURE": "1"})


def test_compose_publishes_it_to_this_machine_only() -> None:
    service = compose_service()
    assert exposed(image_environment() | service["environment"])
    assert (CONTAINER / service["build"]["context"]).resolve() == ROOT
    assert (ROOT / service["build"]["dockerfile"]).is_file()
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


@pytest.mark.soak
def test_hadolint_has_no_complaint() -> None:
    program = Path(sys.executable).with_name("hadolint")
    ended = subprocess.run(
        [str(program), str(CONTAINER / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stdout + ended.stderr
