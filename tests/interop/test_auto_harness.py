"""cua-auto-harness: whether input arrives in an application as it was meant."""

import fcntl
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from scripts.install_programs import MODULES
from tests.interop.clients import PATIENCE, ROOT, Clients
from tests.interop.conftest import SUITE_RUN
from tests.system.services import Service, at_level_shared, tidy

SUITE = "cua-auto-harness"
CATALOG = 100
"""Entries that the harness has; os_global ones need its tap, which level *user* denies."""
SOME = (
    *("click_left_center", "click_right", "click_triple_left", "click_ctrl_shift_right"),
    *("click_corner_bottomright", "click_button_back", "click_two_positions_ordered"),
    *("drag_to_corner", "drag_multipoint_l_shape", "drag_shift_held", "drag_middle_button"),
    *("scroll_down_10", "scroll_diagonal", "key_kp_add", "chord_ctrl_shift_arrow"),
    *("type_shell_hostile", "type_unicode_bmp", "type_emoji", "type_multiline_tabs"),
    "caps_lock_roundtrip",
)
"""No two neighbours click at one point: with short pauses between them, that is a double click."""
LOCK = Path("/tmp/deskhand-auto-harness.lock")
LONG = 4 * PATIENCE
"""Seconds; the whole catalog takes a minute for 30 entries."""
Record = Callable[[str, object], None]

of_suite = pytest.mark.interop_client(
    SUITE,
    how="`autoharness test --adapter examples/autoharness_adapter.py:deskhand`, with URL and token",
    tested="twenty entries of its catalog at level *user*",
)


@contextmanager
def shared_alone(errors: Path) -> Iterator[Service]:
    """Run a desktop at level *shared* while no other run of the harness is there.

    Its probe has fixed paths below ``/tmp``, and the harness ends all programs with its name.
    """
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with at_level_shared(errors) as found:
            yield found


class Harness:
    """Runs entries, and records what came of them for docs/clients.md."""

    def __init__(self, clients: Clients, record: Record, folder: Path) -> None:
        self._clients = clients
        self._record = record
        self._folder = folder

    def run(
        self,
        start: Callable[[Path], AbstractContextManager[Service]],
        what: str,
        *names: str,
        **options: Any,
    ) -> dict[str, int]:
        """Run entries on a desktop of its own; return how many have each result."""
        with start(self._folder / "errors.log") as desktop:
            given = json.dumps({"url": desktop.url, "token": desktop.token, **options})
            out = self._folder / "run"
            done = self._clients.run(
                "auto_harness.py", str(ROOT), str(out), given, *names, patience=LONG
            )
        found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
        entries = found.pop("entries") + found["not_measurable"]
        result = ", ".join(f"{count} {name}" for name, count in found.items() if count)
        version = self._clients.versions()[SUITE]
        run = {"suite": SUITE, "version": version, "what": what, "entries": entries}
        self._record(SUITE_RUN, {**run, "result": result.replace("_", " ")})
        # What the harness wrote of each entry that did not pass.
        assert entries == (len(names) or CATALOG), done.stdout
        return {name: count for name, count in found.items() if count}


@pytest.fixture
def harness(interop: Clients, record_property: Record, tmp_path: Path) -> Harness:
    """Runs entries of the catalog."""
    return Harness(interop, record_property, tmp_path)


@of_suite
@pytest.mark.root
@pytest.mark.slow("the harness waits between its entries")
def test_twenty_entries_pass_at_level_user(harness: Harness) -> None:
    assert harness.run(tidy, "twenty entries at level *user*", *SOME) == {"pass": 20}


@of_suite
@pytest.mark.root
@pytest.mark.full
@pytest.mark.slow("runs the whole catalog")
def test_all_that_its_probe_can_measure_passes_at_level_user(harness: Harness) -> None:
    found = harness.run(tidy, "catalog at level *user*, without the tap")
    assert found.keys() == {"pass", "not_measurable"}
    assert found["pass"] >= 91


@of_suite
@pytest.mark.full
@pytest.mark.slow("runs the whole catalog")
def test_the_whole_catalog_passes_at_level_shared(harness: Harness) -> None:
    what = "catalog at level *shared*, with the tap"
    assert harness.run(shared_alone, what, tap=True) == {"pass": CATALOG}


@of_suite
@pytest.mark.full
@pytest.mark.slow("runs the whole catalog")
@pytest.mark.parametrize("by", ["xdotool", "pyautogui"])
def test_the_catalog_runs_with_the_input_of_other_programs(harness: Harness, by: str) -> None:
    what = f"catalog at level *shared*, with the input of {by} in place of ours, as found"
    found = harness.run(shared_alone, what, tap=True, by=by, pythonpath=str(MODULES))
    # Their failures are no faults of the desktop, but errors would be those of this comparison.
    assert "error" not in found
