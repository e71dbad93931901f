import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from deskhand.recording.errors import RecorderClosed, UnknownRecording
from deskhand.recording.pipeline.command_queue import END, CommandQueue
from tests.recording.fakes import WAIT


def served(commands: CommandQueue) -> threading.Thread:
    """Return a thread that runs commands until the end."""

    def serve() -> None:
        while (command := commands.next(WAIT)) is not END:
            assert command is not None
            command.run(lambda: None)
        commands.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return thread


def test_work_is_done_in_order_and_a_call_waits_for_it() -> None:
    commands, done = CommandQueue(), []
    thread = served(commands)
    commands.submit(lambda: done.append(1))
    commands.submit_if_open(lambda: done.append(2))
    commands.call(lambda: done.append(3))
    assert done == [1, 2, 3]
    commands.end()
    thread.join(WAIT)


def test_an_error_reaches_its_caller_and_no_other() -> None:
    commands = CommandQueue()
    served(commands)

    def fail() -> None:
        raise UnknownRecording("x")

    commands.submit(fail)
    with pytest.raises(UnknownRecording):
        commands.call(fail)
    commands.call(lambda: None)
    commands.end()


def test_after_closing_waiting_callers_are_released_and_new_ones_refused() -> None:
    commands = CommandQueue()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(commands.call, lambda: None)
        command = commands.next(WAIT)
        assert command is not None
        command.cancel()
        with pytest.raises(RecorderClosed):
            waiting.result(WAIT)
    commands.submit(lambda: None)
    commands.close()
    assert commands.next(0.0) is None
    commands.submit_if_open(lambda: None)
    commands.end()
    for late in (commands.submit, commands.call):
        with pytest.raises(RecorderClosed):
            late(lambda: None)
