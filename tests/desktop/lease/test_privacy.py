import threading

from deskhand.desktop.lease.privacy import PrivacyMode

LIMIT = 20.0


def test_it_counts_and_times_what_it_hid() -> None:
    now = [10.0]
    veil = PrivacyMode(lambda: now[0])
    assert (veil.drawn, veil.count) == (False, 0)
    veil.draw(True)
    veil.draw(True)
    assert (veil.drawn, veil.count) == (True, 1)
    now[0] = 52.0
    veil.draw(False)
    assert (veil.drawn, veil.count, veil.seconds) == (False, 1, 42.0)


def test_a_thread_waits_until_it_is_lifted() -> None:
    veil = PrivacyMode()
    veil.draw(True)
    lifted: list[bool] = []
    thread = threading.Thread(target=lambda: lifted.append(veil.wait_lifted(LIMIT, lambda: False)))
    thread.start()
    veil.draw(False)
    thread.join(LIMIT)
    assert lifted == [True]


def test_a_thread_that_gave_up_waits_no_longer() -> None:
    veil = PrivacyMode()
    veil.draw(True)
    gone = threading.Event()
    lifted: list[bool] = []
    thread = threading.Thread(target=lambda: lifted.append(veil.wait_lifted(LIMIT, gone.is_set)))
    thread.start()
    gone.set()
    veil.wake()
    thread.join(LIMIT)
    assert lifted == [False]
