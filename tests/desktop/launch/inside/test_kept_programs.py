import pytest

from deskhand.desktop.launch.inside.kept_programs import KeptPrograms, restart_delay


@pytest.mark.parametrize(("ends", "delay"), [(1, 0.05), (2, 0.1), (3, 0.2), (8, 5.0), (9_999, 5.0)])
def test_each_end_doubles_the_delay_of_the_next_start(ends: int, delay: float) -> None:
    assert restart_delay(ends) == delay


def test_without_programs_nothing_is_due() -> None:
    kept = KeptPrograms()
    kept.ended(1)
    assert kept.start_due() is None
    assert kept.forget() == {}
