from dataclasses import replace

from tests.interop.report import ClientTest, SuiteRun, summary, table, untested

CLICK = ClientTest("clicker", "by URL", "a click", "1.2", "3.12.1", "passed")
LOOK = replace(CLICK, tested="a screenshot")
VIEWER = ClientTest("viewer", "by port", "a picture", "", "", "skipped")


def test_a_client_has_a_row_when_all_its_tests_passed() -> None:
    rows = table([CLICK, LOOK, VIEWER], "2026-11-22").splitlines()
    assert "| clicker | 1.2 | 3.12.1 | by URL | a click; a screenshot | 2026-11-22 |" in rows
    assert "| clicker" not in table([CLICK, replace(LOOK, outcome="failed")], "2026-11-22")


def test_a_program_that_is_no_python_package_has_no_python() -> None:
    shown = table([replace(VIEWER, version="3", outcome="passed")], "2026-11-22")
    assert "\n| viewer | 3 | - | by port | a picture | 2026-11-22 |\n" in shown


def test_the_summary_counts_what_was_installed_run_passed_and_skipped() -> None:
    assert summary([CLICK, replace(LOOK, outcome="failed"), VIEWER]) == [
        "installed: clicker 1.2",
        "run: 2, passed: 1, skipped: 1 (viewer)",
    ]
    assert summary([CLICK])[1] == "run: 1, passed: 1, skipped: 0"


def test_a_required_client_is_untested_when_a_test_was_skipped_or_is_missing() -> None:
    required = ("clicker", "viewer", "nobody")
    assert untested([CLICK, LOOK, VIEWER], required) == ["viewer", "nobody"]
    assert untested([CLICK, replace(LOOK, outcome="skipped")], ("clicker",)) == ["clicker"]


def test_a_client_that_was_not_run_keeps_its_row() -> None:
    earlier = table([CLICK, replace(VIEWER, version="3", outcome="passed")], "2026-11-01")
    shown = table([replace(LOOK, version="1.3"), VIEWER], "2026-11-22", earlier)
    assert [row for row in shown.splitlines() if row.startswith(("| clicker", "| viewer"))] == [
        "| clicker | 1.3 | 3.12.1 | by URL | a screenshot | 2026-11-22 |",
        "| viewer | 3 | - | by port | a picture | 2026-11-01 |",
    ]
    assert "| clicker" not in table([replace(CLICK, outcome="failed")], "2026-11-22", earlier)


def test_a_suite_has_a_row_for_each_of_its_runs() -> None:
    whole = SuiteRun("harness", "5", "all, at level shared", 100, "100 passed")
    part = SuiteRun("harness", "5", "some, at level user", 20, "20 passed")
    earlier = table([CLICK], "2026-11-01", "", [whole, part])
    shown = table([], "2026-11-22", earlier, [replace(part, result="19 passed")])
    assert shown.splitlines()[-2:] == [
        "| harness | 5 | all, at level shared | 100 | 100 passed | 2026-11-01 |",
        "| harness | 5 | some, at level user | 20 | 19 passed | 2026-11-22 |",
    ]
    assert "| clicker |" in shown
