"""The MCP SDK's own client, over both transports and in both eras of the protocol."""

from pathlib import Path

import pytest

from tests.interop.clients import Clients
from tests.system.services import DESKHAND, Service, until

VERSIONS = ("2025-11-25", "2026-07-28")

client = pytest.mark.interop_client(
    "mcp",
    how="`http://HOST:7777/mcp` with the token as bearer, or `deskhand mcp` on standard input",
    tested="protocols 2025-11-25 and 2026-07-28: tools, a command, a click with its picture, "
    "agents, resources, the prompt",
)


@client
@pytest.mark.slow("starts a desktop")
@pytest.mark.parametrize("name", ["desktop", "plane"])
def test_the_client_works_over_http(
    interop: Clients, request: pytest.FixtureRequest, name: str
) -> None:
    service: Service = request.getfixturevalue(name)
    printed = interop.run("mcp_client.py", "http", service.url, service.token).stdout
    assert all(version in printed for version in VERSIONS), printed


@client
@pytest.mark.slow("starts a control plane and a desktop")
def test_the_client_works_on_standard_input(interop: Clients, tmp_path: Path) -> None:
    data = tmp_path / "data"
    printed = interop.run(
        *("mcp_client.py", "stdio", DESKHAND, "mcp", "--pictures", "on"),
        environment={"DESKHAND_DATA_DIR": str(data)},
    ).stdout
    assert all(version in printed for version in VERSIONS), printed
    until(lambda: not (data / "run" / "plane.json").exists(), "the end of the control plane")
