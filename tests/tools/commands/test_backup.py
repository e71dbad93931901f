"""The commands ``backup`` and ``restore``, with a folder and with a bucket."""

import io
import json
import sqlite3
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from deskhand.tools.commands import backup as commands
from deskhand.tools.secrets.keys import keys_of
from deskhand.tools.secrets.secret import Secret
from deskhand.tools.secrets.store import SecretStore
from tests.tools.store.s3 import s3_service

DONE, FAILED, USAGE = 0, 1, 2


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "files/aa").mkdir(parents=True)
    (folder / "files/aa/one").write_bytes(b"one")
    with sqlite3.connect(folder / "deskhand.db") as database:
        database.execute("CREATE TABLE files (id)")
    database.close()
    return folder


@pytest.fixture
def secrets(data: Path) -> Path:
    SecretStore(data, keys_of(data, {})).put(Secret("name", "a long value", None, anywhere=True))
    return data


def printed(capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str]:
    out, err = capsys.readouterr()
    return json.loads(out or "{}"), err


def test_a_backup_without_the_key_names_it(
    secrets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "place")
    assert commands.backup({"data_dir": secrets}, place, with_key=False, as_json=True) == DONE
    made, _ = printed(capsys)
    target = tmp_path / "target"
    assert commands.restore_into({"data_dir": target}, place, None, as_json=True) == DONE
    found, err = printed(capsys)
    assert found["missing_key"] == made["secrets_key"]
    assert f"need the key {made['secrets_key']}" in err
    assert not (target / "secrets.key").exists()
    assert "a long value" not in (target / "secrets.enc").read_text()


@pytest.mark.soak
def test_a_passphrase_brings_the_key_back(
    secrets: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place, target = str(tmp_path / "place"), tmp_path / "target"
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    assert commands.backup({"data_dir": secrets}, place, with_key=True, as_json=True) == FAILED
    assert "8 characters" in printed(capsys)[1]
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\n"))
    assert commands.backup({"data_dir": secrets}, place, with_key=True, as_json=True) == DONE
    assert printed(capsys)[0]["with_key"] is True
    monkeypatch.setattr("sys.stdin", io.StringIO("another\ncorrect horse\n"))
    assert commands.restore_into({"data_dir": target}, place, None, as_json=True) == FAILED
    assert "passphrase" in printed(capsys)[1]
    assert not target.exists()
    assert commands.restore_into({"data_dir": target}, place, None, as_json=False) == DONE
    assert "all verified" in capsys.readouterr().out
    (secret,) = SecretStore(target, keys_of(target, {})).listed()
    assert secret.value == "a long value"


def test_what_cannot_be_done_is_one_line(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "place")
    assert commands.backup({"data_dir": tmp_path}, place, with_key=False, as_json=False) == USAGE
    assert commands.restore_into({"data_dir": data}, place, None, as_json=False) == FAILED
    assert commands.restore_into({"data_dir": tmp_path / "x"}, place, None, as_json=False) == FAILED
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2] for line in lines] == [
        f"{tmp_path} has no database to back up; give another --data-dir",
        f"nothing was restored: {data} is not empty; restore into another one with --data-dir",
        "nothing was restored: there is no backup",
    ]


@pytest.mark.soak
def test_a_bucket_holds_backups_too(
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = "s3://backups/deskhand"
    with s3_service() as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        request = Request(f"{environment['AWS_ENDPOINT_URL']}/backups", method="PUT")
        urlopen(request).close()
        assert commands.backup({"data_dir": data}, place, with_key=False, as_json=True) == DONE
        (data / "files/aa/two").write_bytes(b"two")
        assert commands.backup({"data_dir": data}, place, with_key=False, as_json=True) == DONE
        last = capsys.readouterr().out.splitlines()[-1]
        assert json.loads(last)["new_objects"] == 1
        target = tmp_path / "target"
        assert commands.restore_into({"data_dir": target}, place, None, as_json=True) == DONE
    assert (target / "files/aa/two").read_bytes() == b"two"
