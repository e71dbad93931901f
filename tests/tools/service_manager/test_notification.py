import socket
from pathlib import Path

import pytest

from deskhand.tools.service_manager.notification import READY, notify
from tests.vncbridge.fakes import short_folder


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_the_service_manager_gets_a_datagram(kind: str) -> None:
    with short_folder() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        name = f"{folder}/notify"
        manager.bind(name if kind == "path" else f"\0{name}")
        manager.settimeout(10)
        address = name if kind == "path" else f"@{name}"
        assert notify(READY, {"NOTIFY_SOCKET": address})
        assert manager.recv(64) == b"READY=1"


@pytest.mark.parametrize("environment", [{}, {"NOTIFY_SOCKET": "vsock:2:1"}])
def test_without_a_service_manager_nothing_is_sent(environment: dict[str, str]) -> None:
    assert not notify(READY, environment)


def test_a_manager_that_is_gone_does_no_harm(tmp_path: Path) -> None:
    assert not notify(READY, {"NOTIFY_SOCKET": str(tmp_path / "none")})
