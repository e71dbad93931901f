import json
import os
from pathlib import Path

import pytest

from deskhand.tools.commands.diagnosis.updates import (
    DAY,
    age_finding,
    browser_age,
    package_findings,
    unpatched_packages,
)


@pytest.mark.parametrize(("days", "status"), [(0, "ok"), (30, "ok"), (31, "warn"), (400, "warn")])
def test_a_browser_older_than_30_days_is_a_warning(days: int, status: str) -> None:
    found = age_finding(days * DAY)
    assert (found.status, found.detail) == (status, f"built {days} days ago")
    assert bool(found.remedy) == (status == "warn")


def test_the_age_is_that_of_the_file_behind_links(tmp_path: Path) -> None:
    (tmp_path / "browser").write_text("")
    os.utime(tmp_path / "browser", (0, 0))
    (tmp_path / "link").symlink_to("browser")
    (found,) = browser_age(str(tmp_path / "link"))
    assert found.status == "warn"
    assert list(browser_age(str(tmp_path / "none"))) == []


def test_vulnerable_packages_are_named_with_the_fix() -> None:
    flaw = {"id": "CVE-2026-1", "fix_versions": ["2.1", "3.0"], "description": ""}
    unfixed = {"id": "GHSA-x", "fix_versions": []}
    report = [
        {"name": "good", "version": "1", "vulns": []},
        {"name": "skipped", "skip_reason": "it is not released"},
        {"name": "bad", "version": "2.0", "vulns": [flaw]},
        {"name": "worse", "version": "1.0", "vulns": [unfixed]},
    ]
    bad, worse = package_findings(json.dumps({"dependencies": report}))
    assert (bad.name, bad.detail, bad.remedy) == (
        "package bad",
        "2.0 has CVE-2026-1",
        "pip install bad==3.0",
    )
    assert (worse.status, worse.remedy) == ("warn", "no fix is released")
    (fine,) = package_findings(json.dumps({"dependencies": report[:2]}))
    assert fine.status == "ok"


@pytest.mark.parametrize("report", ["", "[]", "{}", '{"dependencies": [{"vulns": [1]}]}'])
def test_a_report_that_cannot_be_read_is_a_warning(report: str) -> None:
    (found,) = package_findings(report, "Traceback\nno network\n")
    assert (found.status, found.detail) == ("warn", "pip-audit failed: no network")


def test_pip_audit_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(unpatched_packages()) == []
    program = tmp_path / "pip-audit"
    program.write_text("#!/bin/sh\necho '{\"dependencies\": []}'\n")
    program.chmod(0o755)
    (found,) = unpatched_packages()
    assert found.status == "ok"
