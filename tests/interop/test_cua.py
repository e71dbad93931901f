"""The clients of cua."""

from collections.abc import Iterator

import pytest

from tests.interop.clients import Clients
from tests.system.services import Service, service
from tests.system.test_forward import forwarding

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
    how="`--speak cua`; `api_base_url` is DESKTOP_URL`/api/v0/desktop/as/cua`, with the token as "
    "`api_key`; or `deskhand forward cua` on port 8000",
    tested="its interface, both ways: screen, mouse, keyboard, clipboard, commands, files",
)
@pytest.mark.slow("starts a desktop")
def test_a_computer_of_cua_works(interop: Clients, speaking: Service) -> None:
    # 0.4, the newest for Python 3.11, takes neither a base URL nor a port.
    old = interop.versions()["cua-computer"].startswith("0.4.")
    if not old:
        interop.run("cua_computer_client.py", speaking.url + PATH, speaking.token)
    with forwarding(speaking, "cua", "--port", "8000" if old else "0") as (_, ready):
        given = () if old else (f"http://{ready['listen']}",)
        interop.run("cua_computer_client.py", *given)
