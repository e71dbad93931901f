from deskhand.tools.fleet.spawn_times import SpawnTimes


def test_starts_are_added_up() -> None:
    assert SpawnTimes().succeeded(1.5).refused().succeeded(0.5) == SpawnTimes(2, 2.0, 1)
