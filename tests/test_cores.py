import shutil
import subprocess
import sys
from pathlib import Path

from scripts.cores import Coverage, shortfalls, unmeasured
from tests.source_tree import Module

ROOT = Path(__file__).parent.parent
FILES = {
    "desktop/__init__.py": "",
    "desktop/half.py": """
def half(even: bool) -> str:
    if even:
        return "even"
    return "odd"
""",
    "desktop/whole.py": """
from deskhand.desktop.half import half


def whole() -> set[str]:
    return {half(True), half(False)}
""",
    "desktop/clock.py": "import time\n",
    "tests/__init__.py": "",
    "tests/desktop/test_half.py": """
from deskhand.desktop.half import half


def test_half() -> None:
    assert half(True) == "even"
""",
    "tests/desktop/test_whole.py": """
from deskhand.desktop.whole import whole


def test_whole() -> None:
    assert len(whole()) == 2
""",
}


def test_a_module_is_measured_by_its_own_test_file_alone(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    for path in ("scripts/cores.py", "tests/layers.py", "tests/source_tree.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    (tmp_path / "deskhand").mkdir()
    (tmp_path / "deskhand" / "__init__.py").touch()
    (tmp_path / "deskhand" / "desktop").symlink_to("../desktop")
    # The tests of `whole` run both branches of `half`; those of `half` run one.
    command = [sys.executable, "-m", "scripts.cores"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "desktop.half: 66.6 %, missing 5",
        "2 pure modules measured, 1 problem",
    ]
    assert done.returncode == 1


def test_a_module_below_100_percent_is_a_problem_unless_it_is_an_exception() -> None:
    measured = [Coverage("a", 99.96, "3->5"), Coverage("b", 50.0, "7-9"), Coverage("c", 100.0, "")]
    assert list(shortfalls(measured, {"b"})) == ["a: 99.9 %, missing 3->5"]


def test_an_exception_that_reached_100_percent_is_a_problem() -> None:
    assert list(shortfalls([Coverage("a", 100.0, "")], {"a"})) == [
        "a: 100 %, and still among the exceptions"
    ]


def test_a_pure_module_without_own_tests_is_a_problem_unless_it_decides_nothing() -> None:
    paths = ("desktop/gone.py", "desktop/gone/errors.py", "desktop/gone/ports.py")
    pure = [Module(path[:-3].replace("/", "."), path, "") for path in paths]
    assert list(unmeasured(pure, set())) == ["desktop.gone: no tests/desktop/test_gone.py"]


def test_an_exception_that_is_no_pure_module_is_a_problem() -> None:
    assert list(unmeasured([], {"desktop.gone"})) == [
        "desktop.gone: an exception, but no pure module"
    ]
