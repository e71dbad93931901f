"""A log of what agents really do, kept outside of Deskhand: each of their commands connects to it.

Deskhand removes repeated calls itself, so its own records cannot show that one was done twice.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from socket import create_server, socket
from typing import Any

from starlette.responses import Response

from deskhand.tools.agents.scripted.script.endpoint import Endpoint
from deskhand.tools.agents.scripted.script.player import PlayedTurn
from deskhand.tools.agents.scripted.script.request import Request
from deskhand.tools.agents.scripted.script.script import Fault, Script, read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.system.served_models import served
from tests.system.services import PATIENCE, until

STEPS = "counted-steps"
OPEN, PAGE = "open", "page"
"""Action of a command that ends when the page of its chat is shown, and of that page."""
Json = dict[str, Any]


class ActionLog:
    """A server on the bridge; commands send one line and wait for the answer."""

    def __init__(self, address: str) -> None:
        self._server = create_server((address, 0))
        self.address, self.port = self._server.getsockname()
        self.lines: list[str] = []
        self.asked: list[str] = []
        """The replies that models were asked for, ``reply-`` and their number in the script."""
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

    def of_chat(self, chat: str) -> Counter[str]:
        """Return how often each action of a chat was done."""
        split = (line.split() for line in self.lines)
        return Counter(action for action, named in split if named == chat)

    def add(self, line: str) -> None:
        """Record what was done, as another witness than the commands has seen it."""
        with self._changed:
            self.lines.append(line)
            self._changed.notify_all()

    def answer(self, reply: str) -> None:
        """Return when a model may give a reply, which can be held as commands are."""
        with self._changed:
            self.asked.append(reply)
            self._changed.wait_for(lambda: reply not in self._held)

    def clear(self) -> None:
        """Forget what was done."""
        self.lines.clear()
        self.asked.clear()

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
            self.add(line)
            with self._changed:
                self._changed.wait_for(lambda: self._may_end(line))
            with suppress(OSError):
                lines.write("go on\n")

    def _may_end(self, line: str) -> bool:
        action, chat = line.split()
        is_shown = action != OPEN or f"{PAGE} {chat}" in self.lines
        return is_shown and not line.startswith(tuple(self._held))


def command(log: ActionLog, action: str) -> Json:
    """Return the call of a command that sends an action and the name of its working directory."""
    line = (
        f"bash -c 'exec 3<>/dev/tcp/{log.address}/{log.port};"
        f' echo "{action} $(basename "$PWD")" >&3; read -r -u 3 answer\''
    )
    return {"calls": [{"execute": {"command": line}}]}


def script_of_steps(log: ActionLog, steps: int) -> Script:
    """Return a script whose agents run so many commands, ``step-1`` and so on."""
    calls = [command(log, f"step-{number}") for number in range(1, steps + 1)]
    return read_script(STEPS, {"steps": [*calls, {"say": "All done."}]})


class HeldModel(ScriptedModelServer):
    """The scripted model, whose replies a log may hold."""

    def __init__(self, scripts: Sequence[Script], log: ActionLog) -> None:
        super().__init__(scripts)
        self._actions = log

    async def _deliver(
        self,
        endpoint: Endpoint,
        turn: PlayedTurn,
        request: Request,
        fault: Fault | None,
        dropped: Sequence[Json],
    ) -> Response:
        await asyncio.to_thread(self._actions.answer, f"reply-{turn.step}")
        return await super()._deliver(endpoint, turn, request, fault, dropped)


def served_model(script: Script) -> AbstractContextManager[dict[str, str]]:
    """Serve a script as the model; the value is the planes' environment."""
    return served(ScriptedModelServer([script]), script.name)
