import importlib.metadata
import importlib.util
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("desktop", "recording", "tools", "vncbridge")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names of the files in a wheel built from this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        return archive.namelist()


def test_the_wheel_holds_every_module_and_asset_of_the_four_packages(wheel: list[str]) -> None:
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tracked = set(listed.stdout.split("\n")) - {""}
    assert tracked
    assert {f"deskhand/{name}" for name in tracked} <= set(wheel)


def test_the_wheel_holds_nothing_else_but_its_own_description(wheel: list[str]) -> None:
    tops = {name.partition("/")[0] for name in wheel}
    assert {top for top in tops if not top.startswith("deskhand-")} == {"deskhand"}
    assert any(name.endswith("licenses/NOTICE") for name in wheel)


def test_pytest_finds_the_plugin_by_its_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (module,) = project["entry-points"]["pytest11"].values()
    assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize("package", PACKAGES)
def test_no_other_distribution_brings_a_package_of_our_name(package: str) -> None:
    # An editable installation lists no files, so ours may be missing; a stranger's is not.
    owners = importlib.metadata.packages_distributions().get(package, [])
    assert set(owners) <= {"deskhand"}


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").exists()


def test_no_registry_or_machine_is_named_in_the_tree() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    # Not the folder ``work`` of a desktop, which comes after the desktop's own.
    machine = r"(?<![\w}])/wo" + "rk/"
    unwanted = (machine, r"files\.python" + r"hosted\.org", r"registry\.npm" + r"js\.org")
    for name in listed.stdout.split():
        path = ROOT / name
        if path.is_file() and path.suffix not in {".png", ".mp4", ".jpg"} and "novnc" not in name:
            text = path.read_text(errors="replace")
            assert not [word for word in unwanted if re.search(word, text)], name
