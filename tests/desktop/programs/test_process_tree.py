import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from uuid import uuid4

import pytest

from deskhand.desktop.programs import process_tree as groups
from tests.desktop.processes.service import LIMIT


@pytest.fixture
def mark() -> Iterator[str]:
    mark = f"MARK={uuid4()}"
    yield mark
    groups.end(groups.Family(markers=(mark.encode(),)), 0.0, time.monotonic)


def sleeper(mark: str) -> "subprocess.Popen[bytes]":
    name, _, value = mark.partition("=")
    return subprocess.Popen(["sleep", "1000"], env={name: value}, start_new_session=True)


def test_members_are_found_by_group_or_by_marker(mark: str) -> None:
    with sleeper(mark) as child:
        by_group = groups.Family(groups=frozenset({child.pid}))
        by_marker = groups.Family(markers=(mark.encode(),))
        spared = groups.Family(markers=(mark.encode(),), spared=frozenset({child.pid}))
        assert groups.alive(by_group)
        assert groups.alive(by_marker)
        assert not groups.alive(spared)
        assert groups.send(spared, signal.SIGKILL) == 0
        assert groups.send(by_marker, signal.SIGKILL) == 1
        assert groups.wait_gone(by_group, time.monotonic() + LIMIT, time.monotonic)
        # The process is a zombie until its parent waits for it, and a zombie is no member.
        assert os.path.exists(f"/proc/{child.pid}")  # noqa: PTH110 -- as short as it can be


def test_the_environment_of_a_process_that_executes_a_program_is_read(mark: str) -> None:
    name, _, value = mark.partition("=")
    # Popen returns when the new program has its memory, in a third of all runs before that has an
    # environment. The list of all processes takes longer, except in a small PID namespace.
    for _ in range(100):
        with subprocess.Popen(["sleep", "1000"], env={name: value}) as child:
            found = groups._environ(str(child.pid))
            child.kill()
        assert found == mark.encode() + b"\0"


def test_a_part_of_a_marker_is_none(mark: str) -> None:
    with sleeper(mark) as child:
        assert not groups.alive(groups.Family(markers=(mark.removeprefix("MARK").encode(),)))
        assert groups.alive(groups.Family(markers=(mark[:-1].encode(),)))
        child.kill()


def test_patience_has_an_end(mark: str) -> None:
    family = groups.Family(markers=(mark.encode(),))
    with sleeper(mark) as child:
        assert not groups.wait_gone(family, 0.0, time.monotonic)
        child.kill()


def test_processes_that_end_together_do_not_use_up_the_grace_period(mark: str) -> None:
    family, begun = groups.Family(markers=(mark.encode(),)), time.monotonic()
    with ExitStack() as stack:
        children = [stack.enter_context(sleeper(mark)) for _ in range(20)]
        assert groups.end(family, LIMIT, time.monotonic)
        # The limit on liveness: a wait for events that were seen already lasts until the deadline.
        assert time.monotonic() - begun < LIMIT
        assert {child.wait(LIMIT) for child in children} == {-signal.SIGTERM}


def test_a_process_that_ignores_sigterm_is_killed(mark: str) -> None:
    family = groups.Family(markers=(mark.encode(),))
    script = "trap '' TERM; echo up; while :; do sleep 1000; done"
    name, _, value = mark.partition("=")
    with subprocess.Popen(
        ["/bin/sh", "-c", script],
        env={name: value, "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        assert groups.end(family, 0.05, time.monotonic)
        assert child.wait(LIMIT) == -signal.SIGKILL
    assert groups.end(family, 0.0, time.monotonic)
