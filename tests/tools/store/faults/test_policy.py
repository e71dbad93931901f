import errno
import sqlite3

import pytest

from deskhand.tools.store.faults.policy import (
    is_disk_error,
    is_disk_fault,
    is_lock,
    is_log_due,
    may_pass,
    retry_delay,
)


@pytest.mark.parametrize(
    "code",
    [
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_BUSY_SNAPSHOT,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    ],
)
def test_locks_full_disks_and_io_errors_may_pass(code: int) -> None:
    assert may_pass(code)


@pytest.mark.parametrize(
    "code", [None, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB]
)
def test_defects_do_not_pass(code: int | None) -> None:
    assert not may_pass(code)


def test_only_locks_take_a_time_out() -> None:
    assert is_lock(sqlite3.SQLITE_BUSY)
    assert is_lock(sqlite3.SQLITE_BUSY_SNAPSHOT)
    assert not is_lock(sqlite3.SQLITE_FULL)
    assert not is_lock(None)


def test_errors_of_the_disk_are_known_by_their_number() -> None:
    for number in (errno.EIO, errno.EFBIG, errno.ENOSPC, errno.EROFS, errno.EDQUOT):
        assert is_disk_error(number)
    assert not is_disk_error(errno.ENOENT)
    assert not is_disk_error(None)


def test_the_delay_grows_from_1_s_to_30_s() -> None:
    assert [retry_delay(attempts) for attempts in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]
    assert retry_delay(10_000) == 30
    assert retry_delay(3, first=0.5, longest=1.5) == 1.5


def test_a_fault_that_lasts_is_logged_once_a_minute() -> None:
    assert is_log_due(None, 5.0)
    assert not is_log_due(5.0, 64.9)
    assert is_log_due(5.0, 65.0)


@pytest.mark.parametrize(
    ("code", "by_disk"),
    [(13, True), (10, True), (14, True), (778, True), (5, False), (None, False)],
)
def test_more_room_may_help_against_faults_of_the_disk(code: int | None, by_disk: bool) -> None:
    assert is_disk_fault(code) is by_disk
