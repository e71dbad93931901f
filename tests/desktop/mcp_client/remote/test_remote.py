"""Servers over HTTP and SSE: the SDK's own server and client over connections of a port."""

import asyncio
import json
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from deskhand.desktop.mcp_client.errors import ServerFailed
from deskhand.desktop.mcp_client.remote.remote import connect_remote
from deskhand.desktop.mcp_client.server_entry import ServerEntry, Transport
from deskhand.desktop.mcp_client.session import SdkConnection
from tests.desktop.mcp_client.remote.servers import (
    PATIENCE,
    RemoteServer,
    answering,
    connect,
    connections_to,
    http,
    serving,
)

# The SDK's server leaves streams open when its clients disconnect.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

ENVIRONMENT = {"KEY": "of commands"}
JSON = "Content-Type: application/json"


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def inside() -> None:
        async with asyncio.timeout(PATIENCE):
            await scenario()

    asyncio.run(inside())


async def opened(server: RemoteServer) -> SdkConnection:
    return await connect_remote(server.entry, connect, ENVIRONMENT, "1")


def text(result: object) -> str:
    assert isinstance(result, dict)
    return str(result["content"][0]["text"])


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_server_lists_and_runs_tools_and_no_connection_is_left(transport: Transport) -> None:
    async def scenario() -> None:
        async with serving(transport) as server:
            connection = await opened(server)
            assert [one["name"] for one in await connection.list_tools()] == ["echo", "add_tool"]
            echoes = (connection.call("echo", {"text": str(number)}) for number in range(5))
            assert [text(one) for one in await asyncio.gather(*echoes)] == list("01234")
            assert connection.ended == ""
            assert {one["x-key"] for one in server.requests} == {"of commands"}
            assert {one["accept-encoding"] for one in server.requests} == {"identity"}
            await connection.close()
            await connection.close()
            assert connections_to(server.port) == 0
            assert ("DELETE" in server.methods()) is (transport == "http")

    run(scenario)


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_server_reports_a_change_of_its_tools(transport: Transport) -> None:
    async def scenario() -> None:
        async with serving(transport) as server:
            connection = await opened(server)
            await connection.list_tools()
            assert not connection.tools_changed
            # The stream of messages may be opened after the first report.
            while not connection.tools_changed:
                await connection.call("add_tool", {})
            assert [one["name"] for one in await connection.list_tools()][-1] == "added"
            assert not connection.tools_changed
            await connection.close()

    run(scenario)


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_server_that_has_gone_ends_the_connection(transport: Transport) -> None:
    async def scenario() -> None:
        async with serving(transport) as server:
            connection = await opened(server)
        with pytest.raises(ServerFailed):
            await connection.call("echo", {"text": "x"})
        assert connection.ended
        await connection.close()
        with pytest.raises(ServerFailed, match=r"no connection to 127\.0\.0\.1"):
            await opened(server)

    run(scenario)


def test_a_lost_session_ends_the_connection() -> None:
    async def scenario() -> None:
        async with serving("http") as server:
            connection = await opened(server)
        async with serving("http", server.port):
            with pytest.raises(ServerFailed, match=r"HTTP 404 \(the session is lost\)"):
                await connection.call("echo", {"text": "x"})
            assert "the session is lost" in connection.ended
            await connection.close()
            again = await opened(server)
            assert text(await again.call("echo", {"text": "x"})) == "x"
            await again.close()

    run(scenario)


async def refused(port: int, transport: Transport = "http", seconds: float = PATIENCE) -> str:
    """Return why a server is not connected."""
    entry = ServerEntry("web", transport, url=f"http://127.0.0.1:{port}/mcp")
    with pytest.raises(ServerFailed) as error:
        await connect_remote(entry, connect, {}, "1", initialize_seconds=seconds)
    assert connections_to(port) == 0
    return str(error.value)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (http("401 Unauthorized"), "the server answered with HTTP 401"),
        (http("200 OK", "{}", JSON, "Content-Encoding: gzip"), "compressed answers"),
        (http("200 OK", "x" * (8 * 1024 * 1024 + 1), JSON), "a message is longer than"),
        (http("200 OK", "x", "Content-Type: text/html"), "Unexpected content type: text/html"),
        (http("302 Found", "", "Location: http://127.0.0.2/mcp"), "not followed"),
        (http("307 Found", "", "Location: http://127.0.0.2/mcp"), "not followed"),
        (b"no http\r\n\r\n", "illegal status line"),
    ],
)
def test_an_answer_that_is_not_usable_is_the_reason(answer: bytes, reason: str) -> None:
    async def scenario() -> None:
        async def answers(_line: str, _body: str) -> bytes:
            return answer

        async with answering(answers) as port:
            assert reason in await refused(port)

    run(scenario)


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_server_without_an_answer_is_given_up(transport: Transport) -> None:
    async def scenario() -> None:
        asked = asyncio.Event()

        async def answers(_line: str, _body: str) -> None:
            asked.set()

        async with answering(answers) as port:
            seconds = PATIENCE / 20
            reason = await refused(port, transport, seconds)
            assert reason == f"initialize was not answered in {seconds:g} s"
            assert asked.is_set()

    run(scenario)


def test_a_redirect_within_the_origin_is_followed() -> None:
    async def scenario() -> None:
        lines = []

        async def answers(line: str, body: str) -> bytes:
            lines.append(line)
            if "/mcp/" not in line:
                return http("307 Temporary Redirect", "", "Location: /mcp/")
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "serverInfo": {"name": "x", "version": "1"},
            }
            asked = json.loads(body)
            if "id" not in asked:
                return http("202 Accepted")
            answer = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
            return http("200 OK", json.dumps(answer), JSON)

        async with answering(answers) as port:
            entry = ServerEntry("web", "http", url=f"http://127.0.0.1:{port}/mcp")
            connection = await connect_remote(entry, connect, {}, "1")
            assert lines[:2] == ["POST /mcp HTTP/1.1", "POST /mcp/ HTTP/1.1"]
            await connection.close()

    run(scenario)


def test_a_proxy_of_commands_is_used() -> None:
    async def scenario() -> None:
        lines = []

        async def answers(line: str, _: str) -> bytes:
            lines.append(line)
            return http("403 Filtered")

        async with answering(answers) as port:
            proxies = {f"{one}_proxy": f"http://127.0.0.1:{port}" for one in ("http", "https")}
            for scheme, reason in (("http", "HTTP 403"), ("https", "ProxyError: 403 Filtered")):
                entry = ServerEntry("web", "http", url=f"{scheme}://far.test/mcp")
                with pytest.raises(ServerFailed, match=reason):
                    await connect_remote(entry, connect, proxies, "1")
            with pytest.raises(ServerFailed, match="proxies are used by http:// only"):
                await connect_remote(entry, connect, {"all_proxy": "socks5://far.test"}, "1")
        begins = ["POST http://far.test/mcp HTTP/1.1", "CONNECT far.test:443 HTTP/1.1"]
        assert lines == begins

    run(scenario)


def test_tls_is_with_certificates_of_the_system(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *files], check=True, capture_output=True)
    served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    served.load_cert_chain(certificate, key)

    async def scenario() -> None:
        async def answers(_line: str, _body: str) -> bytes:
            return http("418 Teapot")

        async with answering(answers, served) as port:
            entry = ServerEntry("web", "http", url=f"https://localhost:{port}/mcp")
            with pytest.raises(ServerFailed, match="certificate verify failed"):
                await connect_remote(entry, connect, {}, "1")

            def trusting() -> ssl.SSLContext:
                return ssl.create_default_context(cafile=str(certificate))

            with pytest.raises(ServerFailed, match="HTTP 418"):
                await connect_remote(entry, connect, {}, "1", tls=trusting)

    run(scenario)


def test_a_server_without_a_handshake_is_used() -> None:
    versions = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    refusal = {"code": -32022, "message": "old", "data": versions}
    cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    found: dict[str, dict[str, object]] = {
        "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
        "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
    }

    async def answers(_: str, body: str) -> bytes:
        asked = json.loads(body)
        if asked["method"] not in found:
            refused = {"jsonrpc": "2.0", "id": asked["id"], "error": refusal}
            return http("400 Bad Request", json.dumps(refused), JSON)
        result = {**cached, **found[asked["method"]]}
        done = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
        return http("200 OK", json.dumps(done), JSON)

    async def scenario() -> None:
        async with answering(answers) as port:
            connection = await opened(RemoteServer("http", port))
            assert [one["name"] for one in await connection.list_tools()] == ["echo"]
            await connection.close()

    run(scenario)
