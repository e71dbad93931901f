"""The examples are typed, as a user of our wheel checks them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.installing import Installation, install
from tests.system.services import PATIENCE

# `make check` checks the examples with the checkout.
pytestmark = [
    pytest.mark.soak,
    pytest.mark.full,
    pytest.mark.slow("a type checker on the whole package"),
]

PYRIGHT = "pyright@1.1.414"
FOREIGN = (
    "agents",
    "autoharness/__init__",
    "autoharness/adapters/__init__",
    "autoharness/adapters/gym_anything",
    "autoharness/translate",
    "desktop_env/controllers/python",
    "desktop_env/controllers/setup",
    "desktop_env/providers/base",
    "gym_anything/env",
    "gym_anything/runtime/runners/base",
    "langchain_core/tools",
)
"""Modules of other makers that examples import, and the environment of this test has not."""
ANYTHING = "from typing import Any\ndef __getattr__(name: str) -> Any: ...\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return install(tmp_path_factory.mktemp("typed"))


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples alone, so that nothing of the checkout is found beside them."""
    folder = tmp_path_factory.mktemp("examples")
    for path in (Path(__file__).parents[2] / "examples").glob("*.py"):
        shutil.copy(path, folder)
    for name in FOREIGN:
        stub = folder / "typings" / f"{name}.pyi"
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(ANYTHING)
        for package in stub.relative_to(folder / "typings").parents[:-1]:
            (folder / "typings" / package / "__init__.pyi").touch()
    return folder


def test_mypy_accepts_the_examples(wheel: Installation, examples: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", wheel.python]
    ended = subprocess.run(
        [*command, "--cache-dir", str(examples / "cache"), *map(str, examples.glob("*.py"))],
        cwd=examples,
        env={**os.environ, "MYPYPATH": "typings"},
        capture_output=True,
        text=True,
        timeout=30 * PATIENCE,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_pyright_accepts_the_examples(wheel: Installation, examples: Path, tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    fetch = [npm, "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(tmp_path)]
    fetched = subprocess.run(
        [*fetch, PYRIGHT], capture_output=True, text=True, timeout=9 * PATIENCE
    )
    if fetched.returncode != 0:
        pytest.skip(f"pyright cannot be fetched: {fetched.stderr[-200:]}")
    settings = {
        "typeCheckingMode": "standard",
        "pythonVersion": "3.11",
        "include": ["*.py"],
        # The modules of other makers are described here without their source.
        "reportMissingModuleSource": "none",
    }
    (examples / "pyrightconfig.json").write_text(json.dumps(settings))
    pyright = tmp_path / "node_modules" / ".bin" / "pyright"
    ended = subprocess.run(
        [str(pyright), "--pythonpath", wheel.python, "--project", str(examples)],
        cwd=examples,
        capture_output=True,
        text=True,
        timeout=30 * PATIENCE,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "0 errors, 0 warnings" in ended.stdout
