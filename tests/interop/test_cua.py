"""The clients of cua."""

from collections.abc import Iterator

import pytest

from tests.interop.clients import Clients
from tests.system.services import Service, service

PATH = "/api/v0/desktop/as/cua"


@pytest.fixture(scope="module")
def speaking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A desktop that speaks cua."""
    errors = tmp_path_factory.mktemp("cua") / "errors.log"
    with service(errors, "desktop", "--speak", "cua", "--size", "1920x1080") as found:
        yield found


@pytest.mark.interop_client(
    "cua-sandbox",
    how="`--speak cua`; `http_url` or `ws_url` is DESKTOP_URL`/api/v0/desktop/as/cua`[`/ws`]",
    tested="19 cases over HTTP and 19 over a WebSocket",
)
@pytest.mark.slow("starts a desktop")
@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_a_sandbox_of_cua_works(interop: Clients, speaking: Service, scheme: str) -> None:
    url = speaking.url + PATH
    if scheme == "ws":
        url = f"{url.replace('http', 'ws', 1)}/ws"
    succeeded = interop.run("cua_sandbox_client.py", url, speaking.token).stdout.split()
    assert len(succeeded) == 19, succeeded


@pytest.mark.interop_client(
    "cua-computer",
    how="`--speak cua`; `api_base_url` is DESKTOP_URL`/api/v0/desktop/as/cua`",
    tested="its interface: screen, mouse, keyboard, clipboard, commands, files",
)
@pytest.mark.slow("starts a desktop")
def test_a_computer_of_cua_works(interop: Clients, speaking: Service) -> None:
    if interop.versions()["cua-computer"].startswith("0.4."):
        pytest.skip("0.4 takes no base URL with a path; `deskhand forward cua` serves it")
    interop.run("cua_computer_client.py", speaking.url + PATH, speaking.token)
