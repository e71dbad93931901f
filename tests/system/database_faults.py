"""Faults of a control plane's database, and agents whose every command reports to the test."""

import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from queue import Queue
from socket import create_server, socket

from deskhand.tools.agents.scripted.script.script import read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.system.served_models import served
from tests.system.services import PATIENCE

STEPS = 5
SCRIPT = "five-steps"


class StepGate:
    """Server that each command of the agent connects to: counts the commands and holds them.

    The count is independent of the control plane, so that it shows a command that ran twice.
    """

    def __init__(self, held: int) -> None:
        self.hold(held)
        self._server = create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]

    def __enter__(self) -> "StepGate":
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._server.close()

    def hold(self, held: int) -> None:
        """Begin anew, with another command to hold."""
        self.names: list[str] = []
        self.reached: Queue[str] = Queue()
        self._held = f"step-{held}"
        self._released = threading.Event()

    def wait(self) -> None:
        """Return when the held command runs."""
        self.reached.get(timeout=2 * PATIENCE)

    def release(self) -> None:
        """Let the held command and all later ones end."""
        self._released.set()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket) -> None:
        with connection, connection.makefile("rw") as lines:
            name = lines.readline().strip()
            self.names.append(name)
            if name == self._held:
                self.reached.put(name)
                self._released.wait()
            lines.write("go on\n")


def provider(port: int) -> AbstractContextManager[dict[str, str]]:
    """Serve the model of the five steps; the value is the environment for the control plane."""
    command = "bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; echo {name} >&3; read -r -u 3 answer'"
    calls = [
        {"calls": [{"execute": {"command": command.format(port=port, name=f"step-{number}")}}]}
        for number in range(1, STEPS + 1)
    ]
    end = {"report": {"summary": "All steps are done.", "outcome": "done"}}
    server = ScriptedModelServer([read_script(SCRIPT, {"steps": [*calls, end]})])
    return served(server, SCRIPT)


_LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""


@contextmanager
def locked(data: Path) -> Iterator[None]:
    """Hold an exclusive transaction on the database from another process."""
    command = [sys.executable, "-c", _LOCK, str(data / "deskhand.db")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        try:
            yield
        finally:
            process.stdin.close()
            process.wait(PATIENCE)


@contextmanager
def unwritable_files(pid: int) -> Iterator[None]:
    """Make every write of a process to a file fail, as a disk with I/O errors does.

    SQLite reports the error EFBIG of write(2) as an I/O error.
    """
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


def strand(data: Path, chat_id: str) -> None:
    """Make a chat that has ended look like one whose task was lost."""
    with sqlite3.connect(data / "deskhand.db") as connection:
        connection.execute(
            "UPDATE chats SET state = 'running', updated_at = 0 WHERE id = ?", (chat_id,)
        )
        connection.execute(
            "UPDATE turns SET status = 'running', ended_at = NULL WHERE chat_id = ?", (chat_id,)
        )
    connection.close()
