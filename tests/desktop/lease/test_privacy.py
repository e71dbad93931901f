import threading

from deskhand.desktop.lease.privacy import PrivacyMode

LIMIT = 20.0


def test_it_counts_and_times_what_it_hid() -> None:
    now = [10.0]
    privacy = PrivacyMode(lambda: now[0])
    assert (privacy.active, privacy.activations) == (False, 0)
    privacy.set(True)
    privacy.set(True)
    assert (privacy.active, privacy.activations) == (True, 1)
    now[0] = 52.0
    privacy.set(False)
    assert (privacy.active, privacy.activations, privacy.last_seconds) == (False, 1, 42.0)


def test_a_thread_waits_until_it_is_lifted() -> None:
    privacy = PrivacyMode()
    privacy.set(True)
    lifted: list[bool] = []
    thread = threading.Thread(
        target=lambda: lifted.append(privacy.wait_inactive(LIMIT, lambda: False))
    )
    thread.start()
    privacy.set(False)
    thread.join(LIMIT)
    assert lifted == [True]


def test_a_thread_that_gave_up_waits_no_longer() -> None:
    privacy = PrivacyMode()
    privacy.set(True)
    gone = threading.Event()
    lifted: list[bool] = []
    thread = threading.Thread(
        target=lambda: lifted.append(privacy.wait_inactive(LIMIT, gone.is_set))
    )
    thread.start()
    gone.set()
    privacy.wake()
    thread.join(LIMIT)
    assert lifted == [False]
