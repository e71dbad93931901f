"""Checkers, on a machine that is a folder of this one."""

import asyncio
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from deskhand.tools.evaluation.checking.checking import Requests, Verdict, check
from deskhand.tools.evaluation.checking.machine import CommandResult, ScreenState
from deskhand.tools.evaluation.errors import RunError
from deskhand.tools.evaluation.task import Checker, PlacedFile, Task

POSTED = ({"path": "/order", "fields": {"a": "1"}}, {"path": "/other", "json": [1]})
REQUESTS = Requests(POSTED, ("/a.html?b=1",), "http://127.0.0.1:9")


@dataclass
class FolderMachine:
    """Runs commands here; ``events`` has the order of what a check does."""

    workdir: str
    home: str
    screen: ScreenState = field(default_factory=ScreenState)
    events: list[str] = field(default_factory=list)

    async def look(self) -> ScreenState:
        self.events.append("look")
        self.screen = ScreenState(("Lamps",), ("http://x/",), "copied", ("sleep 9",), b"png")
        return self.screen

    async def end_programs(self) -> None:
        self.events.append("end programs")

    def path(self, path: str) -> str:
        return str(Path(self.workdir, path))

    async def run(self, command: str, seconds: float) -> CommandResult:
        self.events.append("run")
        try:
            ended = await asyncio.to_thread(
                subprocess.run,
                ["sh", "-c", command],
                cwd=self.workdir,
                timeout=seconds,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return CommandResult(None, "")
        return CommandResult(ended.returncode, ended.stdout)

    async def run_clean(self, command: Sequence[str], seconds: float) -> CommandResult:
        return await self.run(shlex.join(command), seconds)

    async def write(self, path: str, content: bytes) -> None:
        await asyncio.to_thread(_write, Path(self.path(path)), content)

    async def read(self, path: str) -> bytes | None:
        return await asyncio.to_thread(_read, Path(self.path(path)))


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def _read(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


@pytest.fixture
def machine(tmp_path: Path) -> FolderMachine:
    (tmp_path / "out.txt").write_text("hello\n")
    return FolderMachine(str(tmp_path), str(tmp_path))


def judged(machine: FolderMachine, checker: Checker, folder: Path = Path("/")) -> Verdict:
    task = Task("a", "Do it.", checker, folder)
    return asyncio.run(check(task, machine, REQUESTS))


def python(machine: FolderMachine, body: str, **options: Any) -> Verdict:
    lines = dedent(body).strip().splitlines()
    source = "def check(machine):\n" + "\n".join(f"    {line}" for line in lines)
    return judged(machine, Checker(source, line=10, **options))


def test_a_python_checker_sees_files_requests_and_screen(machine: FolderMachine) -> None:
    body = """
        assert machine.read_text("out.txt") == "hello\\n"
        assert machine.read_bytes("out.txt") == b"hello\\n"
        assert machine.files() == ["out.txt"]
        assert machine.files("none") == []
        assert machine.exists("out.txt") and not machine.exists("none")
        assert machine.run(["cat", "out.txt"]) == (0, "hello\\n")
        assert machine.run("pwd; exit 3").status == 3
        assert machine.run("sleep 5", timeout=0.1).status is None
        assert [one["path"] for one in machine.posted()] == ["/order", "/other"]
        assert machine.posted("/order")[0]["fields"] == {"a": "1"}
        assert machine.visited() == ["/a.html?b=1"]
        assert machine.windows() == ["Lamps"] and machine.urls() == ["http://x/"]
        assert machine.clipboard() == "copied" and machine.processes() == ["sleep 9"]
        assert machine.base_url == "http://127.0.0.1:9"
        assert machine.workdir == machine.home
        print("what a checker prints disturbs nothing")
    """
    assert python(machine, body) == Verdict(True)
    # Before the checker asks for anything.
    assert machine.events[:2] == ["look", "end programs"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("assert False, 'two orders'", "two orders"),
        ("assert machine.files() == []", "the assertion in line 12 does not hold"),
        ("machine.read_text('none')", "there is no file none"),
    ],
)
def test_a_failed_assertion_is_the_reason(machine: FolderMachine, body: str, reason: str) -> None:
    assert python(machine, body) == Verdict(False, reason)


def test_a_file_that_is_no_text_fails_the_check(machine: FolderMachine) -> None:
    Path(machine.workdir, "bad").write_bytes(b"\xff")
    assert python(machine, "machine.read_text('bad')").reason == "the file bad is not UTF-8"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("[][0]", "IndexError in line 12: list index out of range"),
        ("raise SystemExit(0)", "ended without a verdict"),
        ("import os; os._exit(0)", "ended without a verdict"),
    ],
)
def test_an_error_of_a_checker_is_no_failure(
    machine: FolderMachine, body: str, problem: str
) -> None:
    with pytest.raises(RunError) as error:
        python(machine, body)
    assert error.value.kind == "checker"
    assert problem in str(error.value)


def test_a_checker_that_hangs_is_ended(machine: FolderMachine) -> None:
    with pytest.raises(RunError, match=r"has not ended in 0\.3 s") as error:
        python(machine, "while True: pass", seconds=0.3)
    assert error.value.kind == "checker"


def test_a_checker_gets_neither_environment_nor_folder_of_the_runner(
    machine: FolderMachine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    (tmp_path / "beside.bin").write_bytes(b"\0")
    body = """
        import os
        assert "ANTHROPIC_API_KEY" not in os.environ
        assert sorted(os.listdir()) == ["deep", "want.txt"], os.listdir()
        assert open("want.txt").read() == "hello\\n"
        assert open("deep/copy.bin", "rb").read() == b"\\0"
    """
    lines = "\n".join(f"    {line}" for line in dedent(body).strip().splitlines())
    files = (PlacedFile("want.txt", "hello\n"), PlacedFile("deep/copy.bin", source="beside.bin"))
    checker = Checker(f"def check(machine):\n{lines}", files=files)
    assert judged(machine, checker, tmp_path) == Verdict(True)


def test_a_command_checks_on_the_machine(machine: FolderMachine) -> None:
    files = (PlacedFile("want.txt", "hello\n"),)
    command = (
        *("sh", "-c"),
        "cmp {checker_dir}/want.txt out.txt && test $(wc -l < {posted}) = 2 && echo {base_url}",
    )
    assert judged(machine, Checker(command=command, files=files)) == Verdict(True)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("sh", "-c", "echo missing; exit 3"), "missing"),
        (("false",), "the command ended with the status 1"),
    ],
)
def test_a_command_that_fails_gives_the_reason(
    machine: FolderMachine, command: tuple[str, ...], reason: str
) -> None:
    assert judged(machine, Checker(command=command)) == Verdict(False, reason)


def test_a_command_that_cannot_be_run_or_hangs_is_an_error(machine: FolderMachine) -> None:
    with pytest.raises(RunError, match="the command cannot be run"):
        judged(machine, Checker(command=("no-such-program",)))
    with pytest.raises(RunError, match=r"has not ended in 0\.2 s"):
        judged(machine, Checker(command=("sleep", "5"), seconds=0.2))


def test_large_files_pass_the_pipe(machine: FolderMachine) -> None:
    Path(machine.workdir, "large").write_bytes(bytes(1 << 20))
    assert python(machine, "assert len(machine.read_bytes('large')) == 1 << 20").passed
