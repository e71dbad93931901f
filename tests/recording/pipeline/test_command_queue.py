import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from deskhand.recording.errors import RecorderClosed, UnknownRecording
from deskhand.recording.pipeline.command_queue import END, CommandQueue
from tests.recording.fakes import WAIT


def served(mailbox: CommandQueue) -> threading.Thread:
    """A thread that does what it is asked for until the end."""

    def serve() -> None:
        while (request := mailbox.next(WAIT)) is not END:
            assert request is not None
            request.answer_with(lambda: None)
        mailbox.shut()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return thread


def test_work_is_done_in_its_order_and_waited_for() -> None:
    mailbox, done = CommandQueue(), []
    thread = served(mailbox)
    mailbox.tell(lambda: done.append(1))
    mailbox.post(lambda: done.append(2))
    mailbox.ask(lambda: done.append(3))
    assert done == [1, 2, 3]
    mailbox.end()
    thread.join(WAIT)


def test_who_asks_hears_what_went_wrong_and_nobody_else_is_disturbed() -> None:
    mailbox = CommandQueue()
    served(mailbox)

    def fail() -> None:
        raise UnknownRecording("x")

    mailbox.tell(fail)
    with pytest.raises(UnknownRecording):
        mailbox.ask(fail)
    mailbox.ask(lambda: None)
    mailbox.end()


def test_once_shut_it_takes_nothing_and_who_waits_is_let_go() -> None:
    mailbox = CommandQueue()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(mailbox.ask, lambda: None)
        request = mailbox.next(WAIT)
        assert request is not None
        request.refuse()
        with pytest.raises(RecorderClosed):
            waiting.result(WAIT)
    mailbox.tell(lambda: None)
    mailbox.shut()
    assert mailbox.next(0.0) is None
    mailbox.post(lambda: None)
    mailbox.end()
    for late in (mailbox.tell, mailbox.ask):
        with pytest.raises(RecorderClosed):
            late(lambda: None)
