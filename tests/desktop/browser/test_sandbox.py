"""The probe, with commands that fail as those of containers and of Ubuntu do."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from deskhand.desktop.browser.sandbox import NAMESPACES, ROOT, explanation, has_helper, unavailable

FAILS = ("sh", "-c", "echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1")
REASON = "user namespaces do not work here (unshare failed: Operation not permitted)"
NO_SANDBOX = (
    "[88:88:1122/041540.1:FATAL:content/browser/zygote_host/zygote_host_impl_linux.cc:128] "
    "No usable sandbox! If you are running on Ubuntu 23.10+, see the documentation."
)
NOBODY = 65534 if os.geteuid() == 0 else None


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others can read: the probe of root runs as the user nobody."""
    with TemporaryDirectory(prefix="deskhand-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def browser(folder: Path, script: str) -> str:
    program = folder / "chromium"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def restricted(folder: Path, value: str) -> Path:
    file = folder / "apparmor"
    file.write_text(value + "\n")
    return file


def test_root_has_no_sandbox() -> None:
    assert unavailable("/usr/bin/chromium", uid=0) == ROOT


def test_namespaces_that_work_are_enough() -> None:
    assert unavailable("/nothing", uid=NOBODY, namespaces=("true",)) == ""


def test_the_reason_is_that_of_the_kernel(folder: Path) -> None:
    program = browser(folder, "exit 0")
    kernel = restricted(folder, "0")
    assert unavailable(program, uid=NOBODY, namespaces=FAILS, apparmor=kernel) == REASON


def test_without_unshare_the_reason_names_it() -> None:
    found = unavailable("/nothing", uid=NOBODY, namespaces=("no-such-unshare",))
    assert "no-such-unshare" in found


def test_where_apparmor_restricts_namespaces_the_browser_itself_decides(folder: Path) -> None:
    kernel = restricted(folder, "1")
    program = browser(folder, 'case "$*" in *about:blank*) exit 0 ;; esac; exit 1')
    assert unavailable(program, uid=NOBODY, namespaces=FAILS, apparmor=kernel) == ""
    program = browser(folder, f"echo '{NO_SANDBOX}' >&2\necho more >&2\nkill -TRAP $$")
    found = unavailable(program, uid=NOBODY, namespaces=FAILS, apparmor=kernel)
    assert found.startswith("No usable sandbox!")


def test_a_helper_must_belong_to_root_and_have_its_bit(folder: Path) -> None:
    program = Path(browser(folder, "exit 0"))
    # The packaged browser of this machine may have a helper, which counts for every program.
    packaged = has_helper(Path("/usr/bin/no-such-browser"))
    (folder / "chrome-sandbox").touch(0o755)
    assert has_helper(program) == packaged
    (folder / "chrome-sandbox").chmod(0o4755)
    assert has_helper(program) == (packaged or os.geteuid() == 0)


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("", ""),
        ("\n\n", ""),
        ("first\nlast\n", "last"),
        (f"{NO_SANDBOX}\nTrace/breakpoint trap\n", "No usable sandbox! If you are running on "),
        ("unshare: unshare failed: No space left on device\n", "unshare failed: No space left"),
    ],
)
def test_the_line_that_explains_a_failure_is_found(output: str, line: str) -> None:
    assert explanation(output).startswith(line)
    assert bool(explanation(output)) == bool(line)


def test_the_probe_makes_what_the_sandbox_of_chromium_needs() -> None:
    assert {"--user", "--pid", "--net"} < set(NAMESPACES)
