"""The pages' modules without DOM, run by Node.js: each `*.test.js` beside this file's folder."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGES = (Path("tools/control_plane/assets"), Path("vncbridge/viewer/assets"))
NODE = Path(sys.executable).with_name("node")


def test_each_module_passes_its_own_tests(tmp_path: Path) -> None:
    # Node.js reads a file as a module by the nearest package.json. The sources have none, as
    # browsers need none.
    (tmp_path / "package.json").write_text('{"type": "module"}')
    for folder in (*PAGES, *("tests" / pages for pages in PAGES)):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    tests = sorted(str(path) for path in (tmp_path / "tests").rglob("*.test.js"))
    assert tests
    ended = subprocess.run(
        [NODE, "--test", *tests], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
