import threading

from deskhand.desktop.lease.privacy import PrivacyMode

LIMIT = 20.0


def test_activations_are_counted_and_timed() -> None:
    now = [10.0]
    privacy = PrivacyMode(lambda: now[0])
    assert (privacy.active, privacy.activations) == (False, 0)
    privacy.set(True)
    privacy.set(True)
    assert (privacy.active, privacy.activations) == (True, 1)
    now[0] = 52.0
    privacy.set(False)
    assert (privacy.active, privacy.activations, privacy.last_seconds) == (False, 1, 42.0)


def test_a_thread_waits_until_the_mode_is_inactive() -> None:
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


def test_a_cancelled_wait_ends() -> None:
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
