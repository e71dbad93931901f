import pytest

from deskhand.recording.free_space import GIB, MIB, DiskSpace, Threshold, scarcest


@pytest.mark.parametrize(
    ("free", "total", "low"),
    [
        (GIB, 1000 * GIB, False),
        (GIB - 1, 1000 * GIB, True),
        # 2 % of a small disk are less than 1 GiB.
        (20 * MIB, 1000 * MIB, False),
        (20 * MIB - 1, 1000 * MIB, True),
        (0, 0, False),
    ],
)
def test_a_disk_is_low_below_one_gib_or_two_percent(free: int, total: int, low: bool) -> None:
    space = DiskSpace(free, total)
    assert space.low is low
    assert bool(space.refusal) is low


def test_a_refusal_names_the_sizes() -> None:
    assert DiskSpace(3 * MIB, 1000 * MIB).refusal == (
        "the disk is almost full: 3 MiB free, 20 MiB are needed for new data"
    )


def test_something_fits_only_if_the_disk_is_not_low_with_it() -> None:
    space = DiskSpace(84 * MIB, 1000 * MIB)
    assert space.holds(64 * MIB)
    assert not space.holds(64 * MIB + 1)


def test_the_status_has_the_threshold() -> None:
    assert DiskSpace(3, 1000).to_json() == {
        "free_bytes": 3,
        "total_bytes": 1000,
        "needed_bytes": 20,
        "low": True,
    }


def test_the_scarcest_disk_decides() -> None:
    large, small = DiskSpace(2 * GIB, 1000 * GIB), DiskSpace(30 * MIB, 1000 * MIB)
    assert scarcest([large, small]) == small
    assert scarcest([]) == DiskSpace(0, 0)


def test_a_threshold_is_the_smaller_one() -> None:
    assert Threshold(100, 0.5).bytes_of(1000) == 100
    assert Threshold(100, 0.5).bytes_of(10) == 5
