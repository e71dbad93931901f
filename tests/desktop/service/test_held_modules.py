import os
import sys
from importlib.metadata import DistributionFinder
from pathlib import Path

import pytest

from deskhand.desktop.service.held_modules import HeldModules


def open_folder(path: Path) -> str:
    return f"/proc/self/fd/{os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)}"


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HeldModules:
    """A folder of modules that was opened, and then moved away from its path."""
    folder = tmp_path / "modules"
    package = folder / "held_package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("ANSWER = 42\n")
    distribution = folder / "held_package-1.2.dist-info"
    distribution.mkdir()
    (distribution / "METADATA").write_text("Name: held-package\nVersion: 1.2\n")
    found = HeldModules({str(folder): open_folder(folder)})
    folder.rename(tmp_path / "elsewhere")
    monkeypatch.setattr(sys, "path", [str(folder), "/nowhere"])
    return found


def test_a_module_is_found_though_its_path_is_gone(held: HeldModules) -> None:
    spec = held.find_spec("held_package")
    assert spec is not None
    assert spec.origin is not None
    assert spec.origin.startswith("/proc/self/fd/")


def test_a_submodule_of_a_package_from_before_is_found(held: HeldModules) -> None:
    spec = held.find_spec("held_package.inner", [f"{sys.path[0]}/held_package"])
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).read_text() == "ANSWER = 42\n"
    assert held.find_spec("held_package.missing", [f"{sys.path[0]}/held_package"]) is None


def test_nothing_is_found_outside_of_the_open_folders(held: HeldModules) -> None:
    assert held.find_spec("held_package", [f"{sys.path[0]}2"]) is None


def test_distributions_are_found_too(held: HeldModules) -> None:
    context = DistributionFinder.Context(name="held-package", path=sys.path)
    (found,) = held.find_distributions(context)
    assert found.version == "1.2"
    assert [one.version for one in held.find_distributions()] == ["1.2"]
