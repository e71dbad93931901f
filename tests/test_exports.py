"""The names that ``deskhand`` itself exports."""

import subprocess
import sys

import pytest

import deskhand
from deskhand.desktop import remote, remote_sync, results
from deskhand.tools.client import client, client_sync, errors


def test_the_package_exports_the_client_in_both_forms() -> None:
    assert deskhand.Desktop is remote_sync.Desktop
    assert deskhand.AsyncDesktop is remote.Desktop
    assert deskhand.Picture is results.Picture
    assert deskhand.Done is results.Done


def test_the_package_exports_the_client_of_a_control_plane_in_both_forms() -> None:
    assert deskhand.Client is client_sync.Client
    assert deskhand.AsyncClient is client.Client


def test_the_package_exports_every_error_of_the_client() -> None:
    known = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
    assert known <= set(deskhand.__all__)
    assert all(issubclass(getattr(deskhand, name), deskhand.DeskhandError) for name in known)


BASES = {"ClientError", "DeskhandError", "DesktopError"}


def test_each_error_of_the_client_says_what_to_do() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    silent = {kind.__name__ for kind in kinds if not vars(kind).get("advice")}
    assert silent == BASES


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


@pytest.mark.parametrize("name", ["Client", "AsyncClient", "Desktop"])
def test_the_client_loads_neither_a_screen_nor_a_model_nor_a_web_framework(name: str) -> None:
    program = f"""
import sys
before = set(sys.modules)
from deskhand import {name}
print(*sorted(set(sys.modules) - before))
"""
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    libraries = {one.partition(".")[0] for one in found}
    assert not libraries & {
        *("PIL", "alembic", "anthropic", "av", "cryptography", "fastapi", "jeepney", "mcp", "mss"),
        *("numpy", "obstore", "openai", "psutil", "pyautogui", "pydantic", "rich", "sqlalchemy"),
        *("starlette", "typer", "uvicorn", "xcffib", "yaml"),
    }
    own = [one for one in found if one.startswith("deskhand.")]
    # The limits are the present numbers with little room: what is loaded costs time at each start.
    assert len(own) <= 67
    assert len(found) <= 350
