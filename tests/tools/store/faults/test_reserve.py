import asyncio
import errno
from pathlib import Path

import pytest

from deskhand.recording.disk.meter import DiskMeter
from deskhand.recording.free_space import DiskSpace
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import DiskLow
from deskhand.tools.store.faults.reserve import IN_USE, NAME, WORTH_RETRYING, StoreReserve
from tests.tools.store.fakes import database

pytestmark = pytest.mark.sqlite

SIZE = 4096


class FakeDisk:
    """A disk of 100,000 bytes, which is low below 2,000."""

    def __init__(self, folder: Path) -> None:
        self.free = 50_000
        meter = DiskMeter(folder, space_of=lambda _: DiskSpace(self.free, 100_000))
        self.reserve = StoreReserve(folder, SIZE, meter)


def test_the_reserve_is_taken_only_where_the_disk_is_not_low_with_it(tmp_path: Path) -> None:
    disk = FakeDisk(tmp_path)
    disk.free = SIZE + 1_999
    disk.reserve.keep()
    assert disk.reserve.to_json()["reserve"] == "released"
    disk.free = SIZE + 2_000
    disk.reserve.keep()
    assert disk.reserve.to_json()["reserve"] == "held"
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


def test_the_reserve_is_released_only_on_a_disk_that_is_low(tmp_path: Path) -> None:
    disk = FakeDisk(tmp_path)
    disk.reserve.keep()
    assert not disk.reserve.release()
    disk.free = 0
    assert disk.reserve.release()
    assert not disk.reserve.release()
    disk.free = WORTH_RETRYING
    assert disk.reserve.release()
    disk.free = 0
    assert not (tmp_path / NAME).exists()
    disk.reserve.keep()
    assert not (tmp_path / NAME).exists()
    # Released space is not for anything new.
    disk.free = SIZE
    assert disk.reserve.refusal == IN_USE
    disk.free = 50_000
    disk.reserve.keep()
    assert (tmp_path / NAME).exists()
    assert disk.reserve.refusal == ""


def test_a_low_disk_refuses_what_is_new(tmp_path: Path) -> None:
    disk = FakeDisk(tmp_path)
    assert disk.reserve.refusal == ""
    low = FakeDisk(tmp_path)
    low.free = 0
    assert low.reserve.refusal.startswith("the disk is almost full: 0 MiB free")
    assert low.reserve.to_json()["low"] is True


def test_a_full_disk_is_tried_again_with_the_space_of_the_reserve(tmp_path: Path) -> None:
    async def scenario() -> None:
        disk = FakeDisk(tmp_path)
        disk.reserve.keep()
        disk.free = 0
        attempts = 0

        async def attempt() -> int:
            nonlocal attempts
            attempts += 1
            if (tmp_path / NAME).exists():
                raise OSError(errno.ENOSPC, "No space left on device")
            return attempts

        path = database(tmp_path / "deskhand.db")
        async with await Store.open(path, reserve=disk.reserve) as store:
            store.check_new_work()
            assert await store.retried(attempt) == 2
            with pytest.raises(DiskLow, match="what runs is finished"):
                store.check_new_work()
            with pytest.raises(DiskLow, match="what runs is finished"):
                await store.check_room()

        async def fail() -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        # The reserve is used up.
        with pytest.raises(OSError, match="No space left"):
            await store.retried(fail)

    asyncio.run(scenario())
