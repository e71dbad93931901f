"""A log of what agents really do, kept outside of Deskhand: each of their commands connects to it.

Deskhand removes repeated calls itself, so its own records cannot show that one was done twice.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import create_server, socket

from deskhand.tools.agents.scripted.script.script import Script, read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.system.services import PATIENCE, until

SCRIPT = "counted-steps"


class ActionLog:
    """A server on the bridge; commands send one line and wait for the answer."""

    def __init__(self, address: str) -> None:
        self._server = create_server((address, 0))
        self.address, self.port = self._server.getsockname()
        self.lines: list[str] = []
        self._held: set[str] = set()
        self._changed = threading.Condition()

    def __enter__(self) -> "ActionLog":
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._server.close()

    def hold(self, *lines: str) -> None:
        """Let the commands whose lines begin so wait until `release`."""
        with self._changed:
            self._held.update(lines)

    def release(self, *lines: str) -> None:
        """Let the commands end that were held with these beginnings, by default all."""
        with self._changed:
            self._held.difference_update(lines or tuple(self._held))
            self._changed.notify_all()

    def of_step(self, step: str) -> list[str]:
        """Return the chats whose command of a step has begun."""
        return [line.split()[1] for line in self.lines if line.split()[0] == step]

    def reached(self, step: str, number: int) -> None:
        """Wait until the commands of a step of so many chats have begun."""
        until(lambda: len(self.of_step(step)) >= number, f"{step} of {number} chats", 4 * PATIENCE)

    def repeated(self) -> list[str]:
        """Return what was done more than once."""
        return [line for line, count in Counter(self.lines).items() if count > 1]

    def clear(self) -> None:
        """Forget what was done."""
        self.lines.clear()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket) -> None:
        with connection, connection.makefile("rw") as lines:
            line = lines.readline().strip()
            if not line:
                return
            with self._changed:
                self.lines.append(line)
                self._changed.wait_for(lambda: not line.startswith(tuple(self._held)))
            with suppress(OSError):
                lines.write("go on\n")


@contextmanager
def counted_model(log: ActionLog, steps: int) -> Iterator[dict[str, str]]:
    """Serve a model whose agents run so many commands; the value is the planes' environment.

    A command sends its step, and the name of the chat's working directory.
    """
    command = (
        f"bash -c 'exec 3<>/dev/tcp/{log.address}/{log.port};"
        ' echo "{name} $(basename "$PWD")" >&3; read -r -u 3 answer\''
    )
    calls = [
        {"calls": [{"execute": {"command": command.replace("{name}", f"step-{number}")}}]}
        for number in range(1, steps + 1)
    ]
    script = read_script(SCRIPT, {"steps": [*calls, {"say": "All done."}]})
    with served_model(script) as environment:
        yield environment


@contextmanager
def served_model(script: Script) -> Iterator[dict[str, str]]:
    """Serve a script as the model; the value is the planes' environment."""
    server = ScriptedModelServer([script])
    started, ending = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with server:
            started.set()
            await ending.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert started.wait(PATIENCE)
    try:
        yield {
            "ANTHROPIC_API_KEY": server.api_key,
            "ANTHROPIC_BASE_URL": server.url,
            "DESKHAND_APPROVAL": "auto",
            "DESKHAND_MODEL": script.name,
        }
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        loop.close()
