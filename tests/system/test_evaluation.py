"""`deskhand eval`: tasks on real desktops, their checkers, and what may go wrong."""

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.evaluation.form.library import load_task
from deskhand.tools.evaluation.result import RunResult
from deskhand.tools.evaluation.running.one_run import OneRun
from deskhand.tools.evaluation.running.pages import PageSlot
from tests.system.evaluating import (
    REPORT,
    environment_without_keys,
    evaluate,
    make_task,
    run_commands,
    runs_of,
)
from tests.system.services import DESKHAND, PATIENCE, Service, until

pytestmark = pytest.mark.x11

ALL_FACTS = """\
import json
def check(machine):
    assert machine.read_text("out/answer.txt") == "blue"
    assert json.loads(machine.read_text("in.json")) == {"at": machine.base_url}
    assert machine.files() == ["in.json", "out"], machine.files()
    assert machine.run("pwd").output.strip() == machine.workdir
    assert machine.run(["sh", "-c", "exit 3"]).status == 3
    assert any("sleep 4321" in line for line in machine.processes()), machine.processes()
    assert machine.run("pgrep -f 'sleep 432[1]'").status == 1
    assert any("xterm" in title.lower() or "$" in title or title for title in machine.windows())
"""


@pytest.mark.slow("whole runs on desktops")
@pytest.mark.eval
def test_set_up_human_and_checkers_work_together(tmp_path: Path) -> None:
    ask = {"calls": [{"request_human": {"reason": "Which colour?"}}]}
    # The shell opens the file: a program in the background might open it after its removal.
    write = (
        "printf %s {result:answer|sh} > out/answer.txt;"
        " exec 9> log; sleep 4321 >&9 2>&1 & rm -f log"
    )
    make_task(
        tmp_path / "tasks",
        "human",
        [ask, *run_commands(write)],
        setup={
            "files": {"in.json": '{"at": "{base_url}"}'},
            "commands": ["mkdir out"],
            "launch": "terminal",
        },
        checker={"python": ALL_FACTS},
        human={"question": "Which colour?", "answer": "blue"},
    )
    make_task(
        tmp_path / "tasks",
        "nobody",
        [ask, *run_commands("printf %s {result:answer|sh} > answer.txt")],
        checker={
            "files": {"want.txt": "Nobody can answer"},
            "command": "grep -q -f {checker_dir}/want.txt answer.txt && test ! -s {posted}",
        },
    )
    ended = evaluate(tmp_path / "out", "--oracle", str(tmp_path / "tasks"))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Success rate: 100 % (2 of 2)" in ended.stdout


@pytest.mark.slow("whole runs on desktops")
@pytest.mark.eval
def test_what_cannot_be_judged_is_no_failure_of_the_model(tmp_path: Path) -> None:
    tasks, out = tmp_path / "tasks", tmp_path / "out"
    work = run_commands("echo wrong > out.txt")
    bad = {"python": "def check(machine):\n    machine.nothing()\n"}
    hanging = {"python": "def check(machine):\n    while True: pass\n", "seconds": 1}
    make_task(tasks, "bad-set-up", work, setup={"commands": ["exit 3"]}, checker=bad)
    make_task(tasks, "bad-checker", work, checker=bad)
    make_task(tasks, "hanging-checker", work, checker=hanging)
    make_task(tasks, "failing", work, checker={"command": "grep -q right out.txt"})
    tampering = (
        "(while ! cp $(ps xo args | grep -o '/[^ ]*/wan[t].txt' | head -n 1) out.txt;"
        " do sleep 0.05; done) > /dev/null 2>&1 &"
        " mkdir -p ~/.local/bin; printf '#!/bin/sh\\nexit 0\\n' > ~/.local/bin/cmp;"
        " chmod +x ~/.local/bin/cmp; echo 'cmp() { :; }' > ~/.profile; echo wrong > out.txt"
    )
    make_task(
        tasks,
        "tampering",
        run_commands(tampering),
        checker={
            "files": {"want.txt": "right\n"},
            "command": "sleep 1; cmp {checker_dir}/want.txt out.txt",
        },
    )
    ended = evaluate(out, "--oracle", str(tasks))
    assert ended.returncode == 3, ended.stdout + ended.stderr
    runs = runs_of(out)
    assert {name: (run["status"], run["error_kind"]) for name, run in runs.items()} == {
        "bad-set-up": ("error", "setup"),
        "bad-checker": ("error", "checker"),
        "hanging-checker": ("error", "checker"),
        "failing": ("failed", None),
        "tampering": ("failed", None),
    }
    assert "ended with 3" in runs["bad-set-up"]["reason"]
    assert "AttributeError in line" in runs["bad-checker"]["reason"]
    assert "Success rate: 0 % (0 of 2)" in ended.stdout
    for run in (runs["failing"], runs["tampering"]):
        assert (out / run["recording"]).read_bytes()[4:8] == b"ftyp"
        assert (out / run["picture"]).read_bytes().startswith(b"\x89PNG")
        assert run["recording"] in (out / "index.html").read_text()


@pytest.mark.slow("whole runs on desktops")
@pytest.mark.eval
def test_a_recording_that_cannot_be_stored_is_a_note(tmp_path: Path) -> None:
    make_task(tmp_path / "tasks", "failing", [REPORT], checker={"command": "false"})
    out = tmp_path / "out"
    out.mkdir()
    (out / "failures").write_text("not a folder")
    ended = evaluate(out, "--oracle", "--json", str(tmp_path / "tasks"))
    assert ended.returncode == 1, ended.stdout + ended.stderr
    run = runs_of(out)["failing"]
    assert json.loads(ended.stdout)["runs"] == [run]
    assert (run["status"], run["recording"], run["picture"]) == ("failed", None, None)
    assert "could not be stored" in run["note"]


@pytest.mark.slow("whole runs on desktops")
@pytest.mark.eval
def test_a_wrong_script_that_gets_stuck_proves_nothing(tmp_path: Path) -> None:
    stuck = [{"needs": {"blob": "#123456", "tries": 0}, "say": "Never."}]
    make_task(tmp_path / "tasks", "stuck", stuck, checker={"command": "false"})
    ended = evaluate(tmp_path / "out", "--wrong", str(tmp_path / "tasks"))
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "The script cannot go on" in runs_of(tmp_path / "out")["stuck"]["reason"]


@pytest.mark.slow("whole runs on desktops")
@pytest.mark.eval
def test_a_provider_that_cannot_be_reached_ends_the_evaluation(tmp_path: Path) -> None:
    make_task(tmp_path / "tasks", "small", [REPORT], checker={"command": "true"})
    out = tmp_path / "out"
    # Nothing listens on the port of tcpmux.
    unreachable = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
    arguments = ("--repeat", "3", "--parallel", "1", str(tmp_path / "tasks"))
    ended = evaluate(out, *arguments, environment=unreachable)
    assert ended.returncode == 5, ended.stdout + ended.stderr
    assert "stopped: 127.0.0.1:1 cannot be reached" in ended.stderr
    result = json.loads((out / "result.json").read_text())
    assert [run["error_kind"] for run in result["runs"]] == ["model"]


@pytest.mark.slow("whole runs on desktops")
@pytest.mark.eval
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.full), signal.SIGTERM]
)
def test_a_signal_ends_agents_and_desktops(
    tmp_path: Path, number: signal.Signals, request: pytest.FixtureRequest
) -> None:
    # A number of its own finds the command among those of other tests.
    seconds = f"4{os.getpid()}{number:02}"
    make_task(
        tmp_path / "tasks",
        "long",
        run_commands(f"sleep {seconds}"),
        checker={"command": "true"},
    )
    temporary = tmp_path / "t"
    temporary.mkdir()
    environment = {**environment_without_keys(), "TMPDIR": str(temporary)}
    command = [DESKHAND, "eval", "--oracle", str(tmp_path / "tasks"), "--out", str(tmp_path / "o")]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        request.addfinalizer(process.kill)
        until(lambda: _commands(seconds), "the agent's command", 3 * PATIENCE)
        process.send_signal(number)
        # A second one must not break off the end of the desktops.
        process.send_signal(number)
        output, _ = process.communicate(timeout=3 * PATIENCE)
    assert process.returncode == 130, output
    assert "interrupted" in output
    until(lambda: not _commands(seconds), "the end of the agent's command")
    assert list(temporary.iterdir()) == []


@pytest.mark.slow("starts a desktop")
@pytest.mark.eval
def test_a_desktop_that_ends_is_an_error_of_the_run(plane: Service, tmp_path: Path) -> None:
    make_task(tmp_path, "small", [REPORT], checker={"command": "true"})
    task = load_task(tmp_path / "small" / "task.yaml")

    async def run() -> RunResult:
        async with (
            PageSlot().listening() as slot,
            DesktopClient(plane.url, plane.token) as client,
        ):
            one = OneRun(client, slot, task, 1, tmp_path / "failures")
            places = await one.prepare()
            listed = (await client.request("GET", "/api/v0/desktops"))["desktops"]
            (desktop,) = [found for found in listed if found["name"] == "small 1"]
            await client.request("DELETE", f"/api/v0/desktops/{desktop['id']}", timeout=PATIENCE)
            try:
                return await one.work("scripted:look", places)
            finally:
                await one.close()

    ended = asyncio.run(run())
    assert (ended.status, ended.error_kind) == ("error", "desktop"), ended
    assert ended.reason


def _commands(seconds: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if line == f"sleep\0{seconds}\0".encode():
            found.append(entry.name)
    return found
