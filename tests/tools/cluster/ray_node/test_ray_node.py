"""Ray's processes of a node; a small program takes the place of Ray's."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from deskhand.tools.cluster.ray_node.errors import RayNotUsable
from deskhand.tools.cluster.ray_node.ray_node import RayNode, check_token, log, ray_program
from deskhand.tools.fleet.registry import exit_of

LIMIT = 60.0
PROGRAM = """
import os, sys, signal
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()} {os.environ.get('RAY_AUTH_MODE')}\\n")
signal.pause()
"""


@asynccontextmanager
async def starts(folder: Path) -> AsyncIterator[asyncio.StreamReader]:
    """Make the pipe to which each start of the program writes a line."""
    os.mkfifo(folder / "started")
    # Open for writing, too: it has no end while no program runs.
    pipe = os.fdopen(os.open(folder / "started", os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        async with asyncio.timeout(LIMIT):
            yield reader
    finally:
        transport.close()


async def ended(pid: int) -> None:
    with suppress(ProcessLookupError):
        await exit_of(pid)


async def cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def node(folder: Path) -> RayNode:
    command = [sys.executable, "-S", "-c", PROGRAM, str(folder / "started")]
    environment = {"RAY_AUTH_MODE": "token"}
    return RayNode(command, environment, folder / "ray.log", pause_seconds=0.01)


def test_what_ends_is_started_again_and_ends_with_its_owner(tmp_path: Path) -> None:
    async def main() -> None:
        async with starts(tmp_path) as lines:
            made = node(tmp_path)
            running = asyncio.create_task(made.run())
            first, mode = (await lines.readline()).split()
            assert mode == b"token"
            os.kill(int(first), signal.SIGKILL)
            last, _ = (await lines.readline()).split()
            assert made.starts == 2
            await cancelled(running)
            await ended(int(last))

    asyncio.run(main())


def test_it_ends_when_the_daemon_is_killed(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys; from pathlib import Path\n"
        "from tests.tools.cluster.ray_node.test_ray_node import node\n"
        "asyncio.run(node(Path(sys.argv[1])).run())"
    )

    async def main() -> None:
        async with starts(tmp_path) as lines:
            daemon = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", code, str(tmp_path))
            )
            try:
                pid, _ = (await lines.readline()).split()
            finally:
                daemon.kill()
                await daemon.wait()
            await ended(int(pid))

    asyncio.run(main())


def test_a_program_that_cannot_be_started_is_tried_again(tmp_path: Path) -> None:
    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record.getMessage())
            if len(records) == 2:
                twice.set()

    records: list[str] = []
    twice = asyncio.Event()

    async def main() -> None:
        made = RayNode(["/missing/ray"], {}, tmp_path / "none" / "ray.log", pause_seconds=0.01)
        running = asyncio.create_task(made.run())
        async with asyncio.timeout(LIMIT):
            await twice.wait()
        await cancelled(running)
        assert made.starts >= 2
        assert "cannot be started" in records[0]

    heard = Heard()
    log.addHandler(heard)
    try:
        asyncio.run(main())
    finally:
        log.removeHandler(heard)


def test_ray_is_not_started_without_a_token(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "RAY_AUTH_MODE": "token"}
    with pytest.raises(RayNotUsable, match=r"cannot be read: .*No such file"):
        check_token(home)
    token = tmp_path / ".ray" / "auth_token"
    token.parent.mkdir()
    token.touch(mode=0o600)
    token.write_text("\n")
    with pytest.raises(RayNotUsable, match="is missing in"):
        check_token(home)
    token.write_text("secret")
    check_token(home)
    check_token(home | {"HOME": "/missing", "RAY_AUTH_TOKEN_PATH": str(token)})


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_ray_is_not_started_with_a_token_that_others_read(tmp_path: Path, mode: int) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    token.chmod(mode)
    with pytest.raises(RayNotUsable, match=f"others may read .*chmod 600 {token}"):
        check_token({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)})


def test_the_program_is_looked_for_beside_python_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "other"))
    with pytest.raises(RayNotUsable, match="not installed"):
        ray_program()
    (tmp_path / "other").mkdir()
    for place in (tmp_path / "other" / "ray", tmp_path / "ray"):
        place.write_text("#!/bin/sh\n")
        place.chmod(0o755)
        assert ray_program() == str(place)
