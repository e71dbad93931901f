"""The names that ``deskhand`` itself exports."""

import subprocess
import sys

import pytest

import deskhand
from deskhand.desktop import errors, remote, remote_sync, results


def test_the_package_exports_the_client_in_both_forms() -> None:
    assert deskhand.Desktop is remote_sync.Desktop
    assert deskhand.AsyncDesktop is remote.Desktop
    assert deskhand.Picture is results.Picture
    assert deskhand.Done is results.Done


def test_the_package_exports_the_errors_that_a_client_catches() -> None:
    exported = {name for name in deskhand.__all__ if name in vars(errors)}
    assert exported == {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type)
        and (issubclass(kind, errors.DesktopRefused) or kind is errors.DesktopError)
    } | {"DesktopUnavailable"}


def test_every_exported_name_can_be_imported_and_is_listed() -> None:
    assert all(getattr(deskhand, name) for name in deskhand.__all__)
    assert set(deskhand.__all__) <= set(dir(deskhand))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Desk'"):
        _ = deskhand.Desk


def test_importing_the_package_loads_none_of_its_parts() -> None:
    program = "import sys, deskhand; print([n for n in sys.modules if n.startswith('deskhand.')])"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"
