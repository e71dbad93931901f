from deskhand.desktop.freeze.report import StopReport


def test_a_report_within_a_shorter_time_keeps_the_shorter_one() -> None:
    assert StopReport(2, ("a",), 9.0).within(4.0) == StopReport(2, ("a",), 4.0)
    assert StopReport(2, ("a",), 3.0).within(4.0) == StopReport(2, ("a",), 3.0)


def test_two_reports_add_their_times() -> None:
    both = StopReport(2, ("b",), 1.0).followed_by(StopReport(3, ("a", "b"), 2.5))
    assert both == StopReport(3, ("a", "b"), 3.5)
