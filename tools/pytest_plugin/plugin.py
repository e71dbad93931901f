"""Plugin for pytest: the fixture ``desktop``, and what a failed test leaves behind.

pytest loads it by its entry point. ``desktop`` is a fresh desktop for each test, or with
``--desktop-scope`` for each module or the session. Each test that uses it is recorded. The video,
the last picture and the steps of a failed one are saved below ``--deskhand-output`` and named in
its report; ``--deskhand-record`` chooses ``failed``, ``all`` or ``off``. A test suite replaces the
fixture ``desktop_arguments`` for other arguments of ``deskhand desktop``.
"""

import hashlib
import json
import re
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from deskhand.desktop.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.desktop.remote_sync import Desktop

Scope = Literal["session", "module", "function"]

LONGEST_NAME = 100

_OPEN = pytest.StashKey["list[Desktop]"]()
"""Desktops of the fixture: a test suite may have another fixture of that name."""
_RECORDING = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("deskhand", "desktops of Deskhand")
    group.addoption(
        "--desktop-scope",
        choices=("function", "module", "session"),
        default="function",
        help="how long a desktop is used: for one test (default), a module or the session",
    )
    group.addoption(
        "--deskhand-record",
        choices=("failed", "all", "off"),
        default="failed",
        help="tests whose video, last picture and steps are kept (default: failed)",
    )
    group.addoption(
        "--deskhand-output",
        default="deskhand-results",
        metavar="FOLDER",
        help="where they are kept, below the root of the tests (default: deskhand-results)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin without a desktop."""
    config.stash[_OPEN] = []


def _scope(fixture_name: str, config: pytest.Config) -> Scope:
    """Return the scope of the fixture ``desktop``; pytest passes the arguments by name."""
    chosen: Scope = config.getoption("--desktop-scope")
    return chosen


@pytest.fixture(scope="session")
def desktop_arguments() -> tuple[str, ...]:
    """Arguments of ``deskhand desktop``, such as ``("--size", "1920x1080")``."""
    return ()


@pytest.fixture(scope=_scope)
def desktop(
    request: pytest.FixtureRequest, desktop_arguments: tuple[str, ...]
) -> "Iterator[Desktop]":
    """A desktop of Deskhand, without ``await``."""
    # Loaded by its first use: test suites without desktops load the plugin too.
    launch = import_module("deskhand.desktop.remote_sync").Desktop.launch
    with launch(*desktop_arguments) as opened:
        opened_desktops = request.config.stash[_OPEN]
        opened_desktops.append(opened)
        yield opened
        opened_desktops.remove(opened)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Record the test."""
    found = _desktop_of(item)
    if found is not None and item.config.getoption("--deskhand-record") != "off":
        item.stash[_RECORDING] = found.recording.start(label=item.nodeid[:LONGEST_NAME])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep what a failed test leaves, and name it in the report."""
    report = yield
    recording = item.stash.get(_RECORDING, "") if call.when == "call" else ""
    found = _desktop_of(item)
    if not recording or found is None:
        return report
    keeps = report.failed or item.config.getoption("--deskhand-record") == "all"
    try:
        saved = _kept(found, recording, _folder(item)) if keeps else {}
        if not keeps:
            found.recording.stop(recording)
            found.recording.delete(recording)
    except (DeskhandError, OSError) as error:
        # The failure of the test itself must stay visible.
        report.sections.append(("Deskhand", f"not everything was saved: {error}"))
        return report
    if saved:
        root = item.config.rootpath
        lines = [
            f"{name}: {path.relative_to(root) if path.is_relative_to(root) else path}"
            for name, path in saved.items()
        ]
        report.sections.append(("Deskhand", "\n".join(lines)))
        report.user_properties += [(f"deskhand {name}", str(path)) for name, path in saved.items()]
    return report


def _desktop_of(item: pytest.Item) -> "Desktop | None":
    used = getattr(item, "funcargs", {}).get("desktop")
    return next((one for one in item.config.stash[_OPEN] if one is used), None)


def _folder(item: pytest.Item) -> Path:
    """Return the folder of a test, which no other test has."""
    name = re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-")
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}-{hashlib.sha256(item.nodeid.encode()).hexdigest()[:8]}"
    root = Path(item.config.getoption("--deskhand-output"))
    return item.config.rootpath / root / name


def _kept(found: "Desktop", recording: str, folder: Path) -> dict[str, Path]:
    """Save what a test leaves; return the files by what they are."""
    folder.mkdir(parents=True, exist_ok=True)
    saved = {name: folder / file for name, file in _FILES.items()}
    found.screenshot(path=saved["last picture"])
    found.recording.stop(recording)
    found.recording.download(recording, saved["video"])
    steps = found.recording.steps(recording)
    saved["steps"].write_text(json.dumps(steps, indent=1, ensure_ascii=False) + "\n")
    return saved


_FILES = {"video": "video.mp4", "last picture": "last.png", "steps": "steps.json"}
