"""Forwarding of a real desktop: VNC clients of other projects on a local port, without a token."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import asyncvnc
import pytest

from tests.system.services import DESKHAND, PATIENCE, Service, until
from tests.vncbridge.fakes import short_folder

pytestmark = pytest.mark.x11
LEASE = "/api/v0/desktop/lease"
Json = dict[str, Any]


@contextmanager
def forwarding(desktop: Service, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], Json]]:
    """Run ``deskhand forward`` and yield it with the line that it prints when it listens."""
    with subprocess.Popen(
        [DESKHAND, "forward", *arguments, "--url", desktop.url, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "DESKHAND_TOKEN": desktop.token},
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, process.stderr.read() if process.stderr else ""
            yield process, json.loads(line)
        finally:
            process.terminate()


@asynccontextmanager
async def viewer(ready: Json) -> AsyncIterator[asyncvnc.Client]:
    host, port = ready["listen"].split(":")
    async with asyncio.timeout(PATIENCE), asyncvnc.connect(host, int(port)) as client:
        yield client


def played(scene: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(scene())


def pointer(desktop: Service) -> list[int]:
    found: list[int] = desktop.act(action="cursor_position")["native_point"]
    return found


async def processed(client: asyncvnc.Client) -> None:
    # An answer proves that the server has read the messages before it.
    await client.screenshot()


def test_a_viewer_in_control_moves_the_pointer_from_the_start(desktop: Service) -> None:
    with forwarding(desktop, "vnc", "--port", "0", "--role", "control") as (_, ready):

        async def scene() -> None:
            async with viewer(ready) as client:
                until(lambda: desktop.get(LEASE)["private"], "control of the viewer")
                client.mouse.move(700, 500)
                await processed(client)
                state = desktop.get(LEASE)
                assert state["holder"]["name"] == ready["name"]
                watched = {"action": "take", "name": ready["name"], "private": False}
                desktop.post(LEASE, watched)
                assert pointer(desktop) == [700, 500]
                desktop.post(LEASE, {"action": "release", "name": ready["name"]})

        played(scene)


def test_a_program_acts_as_an_agent_and_a_person_goes_before_it(desktop: Service) -> None:
    with forwarding(desktop, "vnc", "--port", "0", "--role", "agent") as (_, ready):

        async def scene() -> None:
            async with viewer(ready) as client:
                client.mouse.move(640, 400)
                await processed(client)
                assert desktop.get(LEASE)["holder"]["kind"] == "chat"
                assert pointer(desktop) == [640, 400]
                person = {"action": "take", "name": "Ann", "private": False}
                desktop.post(LEASE, person)
                client.mouse.move(10, 10)
                client.mouse.click()
                await processed(client)
                assert desktop.get(LEASE)["holder"]["name"] == "Ann"
                desktop.post(LEASE, {"action": "release", "name": "Ann"})
                assert pointer(desktop) == [640, 400]
                client.mouse.move(20, 20)
                await processed(client)
                assert pointer(desktop) == [20, 20]

        played(scene)
    until(lambda: desktop.get(LEASE)["holder"]["kind"] == "nobody", "the end of the agent")


def test_a_viewer_of_the_role_view_sends_no_input(desktop: Service) -> None:
    desktop.act(action="mouse_move", coordinate=[100, 100])
    before = pointer(desktop)
    with forwarding(desktop, "vnc", "--port", "0", "--role", "view") as (_, ready):

        async def scene() -> None:
            async with viewer(ready) as client:
                client.mouse.move(900, 900)
                client.mouse.click()
                await processed(client)
                assert desktop.get(LEASE)["holder"]["kind"] == "nobody"

        played(scene)
    assert pointer(desktop) == before


def test_a_protocol_that_is_off_is_refused_in_one_line(desktop: Service) -> None:
    done = subprocess.run(
        [DESKHAND, "forward", "osworld", "--url", desktop.url],
        env={**os.environ, "DESKHAND_TOKEN": desktop.token},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.count("\n") == 1
    assert "--speak osworld" in done.stderr


def test_the_forward_ends_on_ctrl_c(desktop: Service) -> None:
    with short_folder() as folder:
        path = folder / "vnc"
        with forwarding(desktop, "vnc", "--listen", f"unix:{path}") as (process, _):
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 130
            assert process.stderr is not None
            assert "Traceback" not in process.stderr.read()
        assert not path.exists()


def test_the_forward_ends_with_its_desktop(desktop: Service) -> None:
    with short_folder() as folder:
        path = folder / "vnc"
        with forwarding(desktop, "vnc", "--listen", f"unix:{path}") as (process, ready):
            assert ready["command"] == f"vncviewer {path}"
            desktop.process.terminate()
            assert process.wait(PATIENCE) == 0
            desktop.process.wait(PATIENCE)
            assert process.stderr is not None
            assert "the desktop has ended" in process.stderr.read()
        assert not path.exists()
