"""Packages that people install beside Deskhand: pip resolves each in its newest version."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python with the newest pip: older ones search versions for many minutes."""
    folder = tmp_path_factory.mktemp("pip")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    found = str(folder / "bin" / "python")
    subprocess.run([found, "-m", "pip", "install", "-qq", "--upgrade", "pip"], check=True)
    return found


def resolved(python: str, *requirements: str, alone: bool = False) -> dict[str, dict[str, Any]]:
    """Return the metadata of what pip would install into an empty environment, by name.

    ``alone`` leaves the dependencies of the requirements out.
    """
    options = ("--dry-run", "--ignore-installed", "--quiet", "--report", "-")
    more = ("--no-deps",) if alone else ()
    done = subprocess.run(
        [python, "-m", "pip", "install", *options, *more, *requirements],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    metadata = [one["metadata"] for one in json.loads(done.stdout)["install"]]
    return {canonicalize_name(one["name"]): one for one in metadata}


@pytest.mark.parametrize(
    "partner",
    [
        "openai-agents",
        "google-adk",
        "langchain-core",
        # It needs 200 packages, many with an upper limit.
        pytest.param("desktop-env", marks=pytest.mark.full),
    ],
)
@pytest.mark.slow("pip reads the metadata of some hundred packages")
def test_the_newest_version_installs_beside_deskhand(python: str, partner: str) -> None:
    without = resolved(python, partner)[partner]["version"]
    found = resolved(python, str(ROOT), partner)
    assert found[partner]["version"] == without
    assert {"deskhand", *needed(python)} <= found.keys()


def needed(python: str) -> set[str]:
    """Return the names of what Deskhand needs."""
    report = resolved(python, str(ROOT), alone=True)["deskhand"]["requires_dist"]
    wanted = (Requirement(text) for text in report)
    return {
        canonicalize_name(one.name)
        for one in wanted
        if one.marker is None or one.marker.evaluate({"extra": ""})
    }
