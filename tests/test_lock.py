"""The lock file for users' installations fits `pyproject.toml`."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCK = (ROOT / "requirements.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PIN = re.compile(
    r"^([A-Za-z0-9._-]+)==(\S+?)( ;[^\\]*)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)",
    re.M,
)
PINS = {canonicalize_name(found[1]): found for found in PIN.finditer(LOCK)}


def test_every_line_belongs_to_a_pin_with_hashes() -> None:
    rest = PIN.sub("", LOCK)
    assert all(line.startswith("#") for line in rest.splitlines()), rest


@pytest.mark.parametrize("text", PROJECT["dependencies"])
def test_every_dependency_has_a_pin_that_fits(text: str) -> None:
    wanted = Requirement(text)
    pin = PINS[canonicalize_name(wanted.name)]
    assert wanted.specifier.contains(pin[2], prereleases=True), (
        f"run python -m scripts.lock: {text}"
    )


@pytest.mark.parametrize("name", sorted(PINS))
def test_what_a_package_needs_has_a_pin_too(name: str) -> None:
    try:
        needed = needs(name)
    except metadata.PackageNotFoundError:
        pytest.skip(f"the package {name} is not installed")
    assert needed <= set(PINS)


def needs(name: str) -> set[str]:
    """Return what an installed package needs on this platform, without extras."""
    found = [Requirement(text) for text in metadata.requires(name) or ()]
    here = [one for one in found if one.marker is None or one.marker.evaluate({"extra": ""})]
    return {canonicalize_name(one.name) for one in here}


def all_needed() -> set[str]:
    """Return the dependencies of the project, and what these need in turn."""
    found = set[str]()
    direct = PROJECT["dependencies"]
    open_names: set[str] = {canonicalize_name(Requirement(text).name) for text in direct}
    while open_names:
        found |= open_names
        with_needs = [needs(name) for name in open_names]
        open_names = set[str]().union(*with_needs) - found
    return found


def test_what_only_developers_need_is_left_out() -> None:
    needed = all_needed()
    developers = {
        canonicalize_name(Requirement(text).name)
        for text in PROJECT["optional-dependencies"]["dev"]
    }
    assert not (developers - needed) & set(PINS)


def test_no_registry_is_named() -> None:
    assert "://" not in LOCK
    assert "--index" not in LOCK
    assert "--find-links" not in LOCK
