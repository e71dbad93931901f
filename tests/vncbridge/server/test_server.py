import asyncio
import logging
import os
import signal
import socket
import stat
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from starlette.types import Message, Receive, Scope, Send

from deskhand.vncbridge.errors import CannotListen
from deskhand.vncbridge.server.server import (
    Address,
    CommonHeaders,
    Serving,
    listening,
    parse_address,
)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:0", Address("127.0.0.1", 0)),
        ("[::1]:7777", Address("::1", 7777)),
        ("localhost:80", Address("localhost", 80)),
        ("unix:/run/x.sock", Address(path=Path("/run/x.sock"))),
    ],
)
def test_addresses_are_read(text: str, address: Address) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text", ["", "7777", ":7777", "127.0.0.1", "127.0.0.1:x", "h:70000", "h:8²"]
)
def test_other_texts_say_what_would_be_right(text: str) -> None:
    with pytest.raises(CannotListen, match=r"HOST:PORT.*unix:PATH"):
        parse_address(text)


def test_a_taken_port_is_named() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(CannotListen, match=str(port)), listening(Address("127.0.0.1", port)):
            pytest.fail("must not listen")


def test_a_unix_socket_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "api.sock"
    with listening(Address(path=path)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.exists()


def test_a_unix_socket_in_use_and_a_file_of_that_name_are_left_alone(tmp_path: Path) -> None:
    path, file = tmp_path / "api.sock", tmp_path / "notes"
    file.write_text("mine")
    with listening(Address(path=path)):
        for taken in (path, file):
            with (
                pytest.raises(CannotListen, match="in use"),
                listening(Address(path=taken)),
            ):
                pytest.fail("must not listen")
        assert path.is_socket()
    assert file.read_text() == "mine"


def test_a_socket_that_a_killed_service_left_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "api.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with listening(Address(path=path)) as (bound, _):
        assert bound.getsockname() == str(path)


def test_a_listening_socket_can_be_inherited(tmp_path: Path) -> None:
    path = tmp_path / "api.sock"
    with socket.socket(socket.AF_UNIX) as given:
        given.bind(str(path))
        given.listen()
        with listening(parse_address(f"fd:{os.dup(given.fileno())}")) as (bound, address):
            assert address.url == f"unix:{path}"
            assert not bound.get_inheritable()
    # The file belongs to the process that bound the socket.
    assert path.exists()


def test_an_inherited_port_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as given:
        port = given.getsockname()[1]
        with listening(parse_address(f"fd:{os.dup(given.fileno())}")) as (_, address):
            assert address.url == f"http://127.0.0.1:{port}"


def test_a_descriptor_that_does_not_listen_is_refused() -> None:
    with socket.socket(socket.AF_UNIX) as given:
        wanted = parse_address(f"fd:{os.dup(given.fileno())}")
        with pytest.raises(CannotListen, match="does not listen"), listening(wanted):
            pytest.fail("must not listen")


def test_a_missing_folder_is_reported_with_its_reason(tmp_path: Path) -> None:
    with (
        pytest.raises(CannotListen, match="No such file"),
        listening(Address(path=tmp_path / "none" / "api.sock")),
    ):
        pytest.fail("must not listen")


def test_every_response_has_the_date_of_its_second() -> None:
    now, sent = 1_000_000_000.9, []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Message) -> None:
        sent.append(dict(message["headers"])[b"date"])

    async def receive() -> Message:
        raise AssertionError

    async def scenario() -> None:
        nonlocal now
        headers = CommonHeaders(app, lambda: now)
        for passed in (0.0, 0.0, 0.2):
            now += passed
            await headers({"type": "http"}, receive, send)

    asyncio.run(scenario())
    first = b"Sun, 09 Sep 2001 01:46:40 GMT"
    assert sent == [first, first, first.replace(b"40", b"41")]


def test_sigterm_ends_it_with_a_clean_return_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    closed: list[str] = []
    app = FastAPI()

    @app.get("/")
    async def hello() -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        return "hello"

    async def scenario() -> None:
        with listening(Address("127.0.0.1", 0)) as (bound, address):
            ready = asyncio.Event()
            server = Serving(app, ready.set, lambda: closed.append("closing"))
            task = asyncio.create_task(server.run_until_asked(bound))
            await asyncio.wait_for(ready.wait(), 20)
            async with httpx2.AsyncClient(timeout=20) as client:
                answer = await client.get(address.url)
                assert answer.json() == "hello"
                assert parsedate_to_datetime(answer.headers["date"]).tzinfo is not None
            await asyncio.wait_for(task, 20)
            server.ask_to_end()

    asyncio.run(scenario())
    assert closed == ["closing"]
    assert caplog.messages.count("SIGTERM ends the service") == 1
