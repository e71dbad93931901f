"""The commands ``deskhand ca``, as a person runs them."""

import json
from pathlib import Path

import pytest

from deskhand.tools import cli

DONE, FAILED, USAGE = 0, 1, 2


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = cli.run_line(["ca", *arguments])
    out, err = capsys.readouterr()
    return status, out.strip(), err.strip()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_certificates_are_issued_listed_and_revoked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, "init")
    assert (status, out[:41]) == (DONE, "made a certificate authority in deskhand-")
    assert run(capsys, "list")[1] == "no certificate was issued"
    status, out, _ = run(capsys, "plane", "p1")
    assert status == DONE
    assert out.startswith("wrote plane-p1, valid until ")
    assert (folder / "plane-p1" / "identity.pem").is_file()
    status, out, _ = run(capsys, "plane", "p2", "--out", "p", "--json")
    made = json.loads(out)
    assert (made["role"], made["name"], made["folder"]) == ("plane", "p2", "p")
    status, out, _ = run(capsys, "revoke", "plane", "p1")
    assert (status, out) == (
        *(DONE, "revoked 1 of plane p1; copy deskhand-ca/revoked.pem to all hosts"),
    )
    listed = json.loads(run(capsys, "list", "--json")[1])["certificates"]
    assert [(one["role"], one["revoked"]) for one in listed] == [("plane", True), ("plane", False)]
    (one, two) = run(capsys, "list")[1].splitlines()
    assert one == "plane p1  revoked"
    assert two == f"plane p2  valid until {made['valid_until'][:10]}"


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        (("list",), FAILED, "deskhand-ca has no certificate authority; make one with deskhand ca"),
        (("plane",), USAGE, "Missing argument 'name'"),
        (("plane", "P1", "--ca", "ca"), FAILED, "the name 'P1' is not possible"),
        (("revoke", "plane", "p1", "--ca", "ca"), FAILED, "of the plane p1 was never issued"),
        (("revoke", "owner", "p1", "--ca", "ca"), USAGE, "'owner' is not one of 'plane'"),
        (("init", "--ca", "ca"), FAILED, "ca has a certificate authority already; it is kept"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    status: int,
    reason: str,
) -> None:
    run(capsys, "init", "--ca", "ca")
    before = {file: file.read_bytes() for file in folder.rglob("*.pem")}
    found, out, err = run(capsys, *arguments)
    assert (found, out) == (status, "")
    assert reason in err
    assert len(err.splitlines()) == 1
    assert {file: file.read_bytes() for file in folder.rglob("*.pem")} == before
