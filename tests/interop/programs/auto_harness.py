"""Runs entries of cua-auto-harness on a desktop and prints their results, one JSON object.

Usage: auto_harness.py ROOT OUT OPTIONS [ENTRY...]; without an entry, the whole catalog. ROOT is the
checkout with ``examples`` and ``deskhand``; OPTIONS is a JSON object of the adapter's options.
"""

import json
import os
import socket
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from autoharness import driver
from autoharness.backend import GenericProbeAdapter, load_adapter
from autoharness.contracts import load_catalog

QUIET = 0.12 * float(os.environ.get("DESKHAND_TEST_SLOW", "1"))
POLL = 0.03
"""Seconds without an event after which the probe has received all, and between two questions; those
of the harness are 0.5 and 0.15."""


class QuickAdapter(GenericProbeAdapter):  # type: ignore[misc]
    """Starts no program on the desktop for each question to the probe.

    What an entry may have left pressed stays so, and the entries after it fail.
    """

    def prepare_rep(self) -> None:
        """Do not release all keys and buttons."""

    def _http_json(self, path: str, port: int) -> Any:
        # The desktop has the network of this host.
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as reply:
            return json.load(reply)


def free_port() -> int:
    """Return a port of this host, whose network the desktop shares."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def main(root: str, out: str, options: str, *names: str) -> None:
    """Run each entry once."""
    sys.path.insert(0, root)
    adapter = load_adapter(f"{root}/examples/autoharness_adapter.py:deskhand")
    catalog = load_catalog(str(files("autoharness").joinpath("catalogs", "runner")))
    entries = [one for one in catalog if one.id in names or not names]
    assert len(entries) == (len(names) or len(catalog)), names
    if names:
        driver.QUIESCE_STABLE_SEC, driver.QUIESCE_POLL_SEC = QUIET, POLL
    probe = (QuickAdapter if names else GenericProbeAdapter)(
        adapter(None, json.loads(options)), probe_port=free_port(), raw_port=free_port()
    )
    report = driver.run_catalog(probe, entries, Path(out), reps_override=1)
    sys.stdout.write("\n" + json.dumps(report["totals"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
