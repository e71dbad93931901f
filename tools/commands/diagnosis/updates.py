"""Checks of `deskhand doctor` for software that needs an update: the browser and packages."""

import json
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

from .finding import Finding

DAY = 24 * 3600.0
OLDEST_BROWSER = 30 * DAY
"""Browsers get security updates every one to four weeks."""
AUDIT_SECONDS = 120.0


def browser_age(program: str) -> Iterator[Finding]:
    """Check the age of an installed browser."""
    try:
        # Packages keep the time at which the file was built.
        built = Path(program).resolve().stat().st_mtime
    except OSError:
        return
    yield age_finding(time.time() - built)


def age_finding(age: float) -> Finding:
    """Return the finding for a browser that was built ``age`` seconds ago."""
    detail = f"built {int(age // DAY)} days ago"
    if age > OLDEST_BROWSER:
        return Finding("browser age", "warn", detail, "install the updates of the system")
    return Finding("browser age", "ok", detail)


def unpatched_packages() -> Iterator[Finding]:
    """Check the Python packages of this installation with pip-audit, if it is installed."""
    beside = Path(sys.executable).with_name("pip-audit")
    program = str(beside) if beside.exists() else shutil.which("pip-audit")
    if program is None:
        return
    packages = sysconfig.get_path("purelib")
    try:
        ended = subprocess.run(
            [program, "--format", "json", "--progress-spinner", "off", "--path", packages],
            capture_output=True,
            text=True,
            check=False,
            timeout=AUDIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Finding("packages", "warn", f"pip-audit failed: {error}")
        return
    yield from package_findings(ended.stdout, ended.stderr)


def package_findings(report: str, errors: str = "") -> Iterator[Finding]:
    """Return a finding for each package that a report of pip-audit names as vulnerable."""
    try:
        packages = json.loads(report)["dependencies"]
        found = [
            (one["name"], one["version"], [flaw["id"] for flaw in one["vulns"]],
             [fix for flaw in one["vulns"] for fix in flaw["fix_versions"]])
            for one in packages
            if one.get("vulns")
        ]  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError):
        last = (errors.strip() or "its report cannot be read").splitlines()[-1]
        yield Finding("packages", "warn", f"pip-audit failed: {last}")
        return
    for name, version, flaws, fixes in found:
        remedy = f"pip install {name}=={fixes[-1]}" if fixes else "no fix is released"
        yield Finding(f"package {name}", "warn", f"{version} has {', '.join(flaws)}", remedy)
    if not found:
        yield Finding("packages", "ok", "pip-audit knows no vulnerability")
