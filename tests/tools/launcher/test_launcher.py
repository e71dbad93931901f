import subprocess
import sys
from pathlib import Path

from deskhand.tools.fleet.launcher_client import ENTRY

MOST_LINES = 430
CHECK = """
import os, sys
sys.path[0] = {root!r}
import deskhand.tools.launcher.server
own = [name for name in sys.modules if not name.startswith("deskhand")]
names = {{name.partition(".")[0] for name in own}} - sys.stdlib_module_names - {{"__main__"}}
print(sorted(names))
"""


def test_what_keeps_root_is_short() -> None:
    files = sorted(ENTRY.parent.glob("*.py"))
    assert ENTRY in files
    assert sum(len(path.read_text().splitlines()) for path in files) <= MOST_LINES


def test_what_keeps_root_loads_the_standard_library_only() -> None:
    root = Path(__file__).parents[3]
    found = subprocess.run(
        [sys.executable, "-S", "-E", "-c", CHECK.format(root=str(root))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "[]"
