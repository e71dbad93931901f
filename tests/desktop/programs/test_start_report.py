import pytest

from deskhand.desktop.programs.start_report import StartReport, failed, parse_report, tried


def test_a_start_has_a_directory_or_a_failure() -> None:
    assert parse_report(b"") == StartReport()
    assert parse_report(tried(2)) == StartReport(2)
    assert parse_report(failed("user", 1)) == StartReport(None, "user", 1)
    assert parse_report(tried(0) + failed("find", 13)) == StartReport(0, "find", 13)


@pytest.mark.parametrize("length", range(len(tried(12))))
def test_a_line_that_was_cut_off_is_ignored(length: int) -> None:
    assert parse_report(tried(12)[:length]) == StartReport()
    assert parse_report(tried(3) + failed("find", 13)[:length]) == StartReport(3)
