"""Ctrl-C during `deskhand run` on a control plane that goes on."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psutil
import pytest

from tests.system.gated_model import GatedModel, gated_model, painted_report, painting, plane_of
from tests.system.services import DESKHAND, PATIENCE, Service, until

pytestmark = [
    pytest.mark.x11,
    pytest.mark.soak,
    pytest.mark.slow("a control plane, and a command that is interrupted"),
]


AT_REST = ("idle", "waiting", "interrupted")


def task_on(plane: Service) -> AbstractContextManager[subprocess.Popen[str]]:
    """Run a task by the command line."""
    return command_on(plane, "run", "paint", "--model", "gated")


@contextmanager
def command_on(plane: Service, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a command on a control plane; it is killed if the block ends before it."""
    with subprocess.Popen(
        [DESKHAND, *arguments, "--url", plane.url],
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


def deskhand(plane: Service, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [DESKHAND, *arguments, "--url", plane.url],
        env={**os.environ, "DESKHAND_TOKEN": plane.token},
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=True,
    )


def agents_of(plane: Service) -> list[dict[str, Any]]:
    chats = plane.get("/api/v0/chats")["chats"]
    return [chat for chat in chats if chat["mode"] == "computer_use"]


def state_of(plane: Service) -> str:
    """Return the state of the newest agent."""
    return str(agents_of(plane)[0]["state"])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GatedModel, Service]]:
    with (
        gated_model([painted_report()]) as model,
        plane_of(tmp_path_factory.mktemp("world"), model, "plane") as plane,
    ):
        yield model, plane


@pytest.fixture
def model(world: tuple[GatedModel, Service]) -> Iterator[GatedModel]:
    """The model of all agents; those of a test have ended when the next begins."""
    model, plane = world
    yield model
    model.open_gates()
    until(lambda: all(one["state"] in AT_REST for one in agents_of(plane)), "the end of all turns")


@pytest.fixture
def plane(world: tuple[GatedModel, Service]) -> Service:
    return world[1]


@pytest.mark.parametrize("step", [pytest.param(0, marks=pytest.mark.full), 1])
def test_ctrl_c_stops_the_agent(model: GatedModel, plane: Service, step: int) -> None:
    model.play([painting("#204080"), painted_report()], step)
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
    until(lambda: state_of(plane) in AT_REST, "the end of the turn")
    model.gates[step].open()


def test_a_second_ctrl_c_exits_while_the_control_plane_does_not_answer(
    model: GatedModel, plane: Service
) -> None:
    model.play([painting("#204080"), painted_report()], 0)
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


def test_ctrl_c_at_a_question_stops_the_agent(model: GatedModel, plane: Service) -> None:
    asking = {"calls": [{"request_human": {"reason": "Which colour?"}}]}
    model.play([asking, painted_report()])
    with task_on(plane) as command:
        assert command.stdout is not None
        while "It asks: Which colour?" not in (line := command.stdout.readline()):
            assert line, "the question was not printed"
        command.send_signal(signal.SIGINT)
        _, errors = command.communicate(timeout=3 * PATIENCE)
    assert command.returncode == 130, errors
    assert "deskhand: the agent was stopped" in errors
    until(lambda: state_of(plane) in AT_REST, "the end of the turn")


def test_ctrl_c_while_the_agent_is_being_started_leaves_none_working(
    model: GatedModel, plane: Service
) -> None:
    model.play([painting("#204080"), painted_report()], 0)
    plane.process.send_signal(signal.SIGSTOP)
    try:
        with task_on(plane) as command:
            # With a model given, the first request is the one that starts the agent.
            program = psutil.Process(command.pid)
            until(lambda: bool(program.net_connections("tcp")), "the request")
            command.send_signal(signal.SIGINT)
            plane.process.send_signal(signal.SIGCONT)
            _, errors = command.communicate(timeout=3 * PATIENCE)
    finally:
        plane.process.send_signal(signal.SIGCONT)
    assert command.returncode == 130, errors
    assert "deskhand: the agent was stopped" in errors
    until(lambda: state_of(plane) in AT_REST, "the end of the turn")


def test_ctrl_c_ends_what_follows_a_run_and_leaves_the_agent_working(
    model: GatedModel, plane: Service
) -> None:
    model.play([painting("#204080"), painted_report()], 1)
    detached = deskhand(plane, "run", "paint", "--model", "gated", "--detach", "--json")
    chat_id = json.loads(detached.stdout)["chat_id"]
    model.gates[1].wait()
    with command_on(plane, "runs", "logs", "-f", chat_id) as command:
        assert command.stdout is not None
        assert command.stdout.readline().startswith("  - ")
        command.send_signal(signal.SIGINT)
        _, errors = command.communicate(timeout=3 * PATIENCE)
    assert command.returncode == 130
    assert errors == "deskhand: interrupted\n"
    assert state_of(plane) == "running"
    model.gates[1].open()
    until(lambda: state_of(plane) == "waiting", "the end of the turn")
    shown = deskhand(plane, "runs", "show", chat_id)
    assert "State:     done" in shown.stdout, shown
