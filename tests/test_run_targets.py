"""The targets of make that a landing and a release run."""

import re
from datetime import UTC, datetime
from pathlib import Path

from scripts.run_targets import Result, budgets, page

ROOT = Path(__file__).parent.parent
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_every_budget_is_that_of_a_target() -> None:
    keys = [key for table in budgets().values() for key in table]
    assert {name for key in keys for name in key.split()} <= TARGETS


def test_every_marker_of_a_target_has_a_budget() -> None:
    quick = re.search(r"^QUICK := not \((.*)\)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert quick is not None
    # Real providers cost money; those of `cluster` run together; long ones before a release.
    elsewhere = {"live", "faults", "full"}
    assert set(quick.group(1).split(" or ")) - elsewhere <= set(budgets()["landing"])


def test_a_landing_takes_at_most_20_minutes() -> None:
    assert sum(budgets()["landing"].values()) <= 20 * 60


def test_a_page_names_commit_date_and_what_failed() -> None:
    results = [
        Result("test", 240.0, 200.4, 380.0, "12 passed in 200.40s", failed=False),
        Result("soak", 255.0, 300.0, 512.0, "1 failed, 2 passed", failed=True),
    ]
    lines = page(results, "abc1234", datetime(2026, 1, 2, tzinfo=UTC)).splitlines()
    assert "abc1234 on 2026-01-02" in lines[2]
    assert lines[-2:] == [
        "| test | 200 | 240 | 380 | ok | 12 passed in 200.40s |",
        "| soak | 300 | 255 | 512 | FAILED | 1 failed, 2 passed |",
    ]
