import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from deskhand.desktop.fork_server.loaded_files import LoadedFiles

OLD = (1_000_000_000, 1_000_000_000)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "loaded_for_a_test.py"
    path.write_text("VALUE = 1\n")
    os.utime(path, OLD)
    loaded = ModuleType(path.stem)
    loaded.__file__ = str(path)
    monkeypatch.setitem(sys.modules, path.stem, loaded)
    return path


def test_nothing_has_changed_at_first(module: Path) -> None:
    assert LoadedFiles.now().changed() == ""


def test_a_file_that_is_written_again_has_changed(module: Path) -> None:
    files = LoadedFiles.now()
    module.write_text("VALUE = 2\n")
    assert files.changed() == str(module)


def test_a_file_that_is_removed_has_changed(module: Path) -> None:
    files = LoadedFiles.now()
    module.unlink()
    assert files.changed() == str(module)


def test_a_file_of_another_length_has_changed_at_the_same_time(module: Path) -> None:
    files = LoadedFiles.now()
    module.write_text("VALUE = 10\n")
    os.utime(module, OLD)
    assert files.changed() == str(module)


def test_a_module_whose_file_is_missing_already_is_not_watched(module: Path) -> None:
    module.unlink()
    assert str(module) not in LoadedFiles.now().known
