"""The process in which a task's Python checker runs; only the standard library is imported.

Standard input and output carry one JSON object per line: the source and the facts come in, calls of
the machine go out and their answers come back, the verdict is the last line. What the checker
prints goes to the standard error.
"""

import base64
import json
import os
import sys
import traceback
from typing import IO, Any, NamedTuple

Json = dict[str, Any]


class ProgramEnd(NamedTuple):
    """The end of a command."""

    status: int | None
    """Exit status; None if it was ended after its time."""
    output: str


class CheckedMachine:
    """The machine after the agent has ended, as checkers see it."""

    def __init__(self, facts: Json, incoming: IO[str], outgoing: IO[str]) -> None:
        self._facts = facts
        self._incoming = incoming
        self._outgoing = outgoing
        self.workdir: str = facts["workdir"]
        self.home: str = facts["home"]
        self.base_url: str = facts["base_url"]

    def run(self, command: str | list[str], timeout: float = 20.0) -> ProgramEnd:
        """Run a program, or a command line of the shell, as the agent's user."""
        argv = ["sh", "-c", command] if isinstance(command, str) else [str(one) for one in command]
        found = self._call("run", argv=argv, seconds=timeout)
        return ProgramEnd(found["status"], found["output"])

    def read_bytes(self, path: str) -> bytes:
        """Return a file; fail the check if there is none."""
        content = self._call("read", path=path)["content"]
        if content is None:
            raise AssertionError(f"there is no file {path}")
        return base64.b64decode(content)

    def read_text(self, path: str) -> str:
        """Return a file as text; fail the check if there is none or it is not UTF-8."""
        try:
            return self.read_bytes(path).decode("utf-8")
        except UnicodeDecodeError:
            raise AssertionError(f"the file {path} is not UTF-8") from None

    def exists(self, path: str) -> bool:
        """Return whether there is a file or folder."""
        return bool(self._call("exists", path=path)["exists"])

    def files(self, path: str = ".") -> list[str]:
        """Return the names in a folder, sorted; an empty list if there is none."""
        return list(self._call("files", path=path)["names"])

    def posted(self, path: str | None = None) -> list[Json]:
        """Return what was sent to the served pages, or to one path."""
        return [one for one in self._facts["posted"] if path in (None, one["path"])]

    def visited(self) -> list[str]:
        """Return the paths of the served pages that were requested."""
        return list(self._facts["visited"])

    def windows(self) -> list[str]:
        """Return the titles of the windows when the agent ended."""
        return list(self._facts["windows"])

    def urls(self) -> list[str]:
        """Return the addresses that the browser showed when the agent ended."""
        return list(self._facts["urls"])

    def clipboard(self) -> str:
        """Return the copied text when the agent ended."""
        return str(self._facts["clipboard"])

    def processes(self) -> list[str]:
        """Return the command lines of the agent's programs when it ended."""
        return list(self._facts["processes"])

    def _call(self, name: str, **arguments: Any) -> Json:
        _send(self._outgoing, {"call": name, **arguments})
        answer: Json = json.loads(self._incoming.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


def _send(outgoing: IO[str], value: Json) -> None:
    outgoing.write(json.dumps(value) + "\n")
    outgoing.flush()


def main() -> None:
    """Run one checker and report its verdict."""
    outgoing = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    start: Json = json.loads(sys.stdin.readline())
    machine = CheckedMachine(start["facts"], sys.stdin, outgoing)
    try:
        # Empty lines before the source make the lines of a traceback those of the task's file.
        source = "\n" * int(start["line"]) + str(start["source"])
        names: Json = {"__name__": "checker"}
        exec(compile(source, str(start["file"]), "exec"), names)  # noqa: S102 - the task's code
        names["check"](machine)
    except AssertionError as error:
        frames = traceback.extract_tb(error.__traceback__)
        at = next((one.lineno for one in reversed(frames) if one.filename == start["file"]), "?")
        _send(outgoing, {"failed": str(error) or f"the assertion in line {at} does not hold"})
    except Exception as error:  # noqa: BLE001 - reported as an error of the checker
        frames = traceback.extract_tb(error.__traceback__)
        at = next((one.lineno for one in reversed(frames) if one.filename == start["file"]), "?")
        _send(outgoing, {"error": f"{type(error).__name__} in line {at}: {error}"})
    else:
        _send(outgoing, {"passed": True})


if __name__ == "__main__":
    main()
