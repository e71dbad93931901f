"""Ctrl-C during `deskhand run` on a control plane that goes on."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.system.gated_model import gated_model, painted_report, painting, plane_of
from tests.system.services import DESKHAND, PATIENCE, Service, until

pytestmark = [
    pytest.mark.x11,
    pytest.mark.soak,
    pytest.mark.slow("a control plane, and a command that is interrupted"),
]


@contextmanager
def task_on(plane: Service) -> Iterator[subprocess.Popen[str]]:
    """Run a task by the command line, in a process group that Ctrl-C would signal."""
    with subprocess.Popen(
        [DESKHAND, "run", "paint", "--url", plane.url, "--model", "gated"],
        env={**os.environ, "DESKHAND_TOKEN": plane.token},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        try:
            yield command
        finally:
            command.kill()


def state_of(plane: Service) -> str:
    (chat,) = (c for c in plane.get("/api/v0/chats")["chats"] if c["mode"] == "computer_use")
    return str(chat["state"])


@pytest.mark.parametrize("step", [0, 1])
def test_ctrl_c_stops_the_agent(tmp_path: Path, step: int) -> None:
    with (
        gated_model([painting("#204080"), painted_report()], step) as model,
        plane_of(tmp_path, model, "plane") as plane,
    ):
        with task_on(plane) as command:
            model.gates[step].wait()
            command.send_signal(signal.SIGINT)
            _, errors = command.communicate(timeout=3 * PATIENCE)
        assert command.returncode == 130, errors
        assert [line.partition(";")[0] for line in errors.splitlines()] == [
            "deskhand: stopping the agent",
            "deskhand: the agent was stopped",
            "deskhand: interrupted",
        ]
        until(lambda: state_of(plane) in ("idle", "waiting", "interrupted"), "the end of the turn")
        model.gates[step].open()


def test_a_second_ctrl_c_exits_while_the_control_plane_does_not_answer(tmp_path: Path) -> None:
    with (
        gated_model([painting("#204080"), painted_report()], 0) as model,
        plane_of(tmp_path, model, "plane") as plane,
    ):
        with task_on(plane) as command:
            assert command.stderr is not None
            model.gates[0].wait()
            plane.process.send_signal(signal.SIGSTOP)
            try:
                command.send_signal(signal.SIGINT)
                assert "Ctrl-C again exits at once" in command.stderr.readline()
                command.send_signal(signal.SIGINT)
                assert command.wait(3 * PATIENCE) == 130
            finally:
                plane.process.send_signal(signal.SIGCONT)
        model.gates[0].open()
