import asyncio
import json
from pathlib import Path

import pytest

from deskhand.tools.commands import library
from deskhand.tools.control_plane.data_dir_lock import held
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.stored_files import StoredFiles


async def _file(data: Path) -> None:
    async with await Store.open(data / "deskhand.db") as store:
        files = StoredFiles(store, FileStore(data / "files"), lambda: 5.0)
        await files.save(b"film", FileFacts(None, "recording", "film.mp4", "video/mp4"))


def test_a_lost_database_is_rebuilt_from_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(_file(tmp_path))
    for path in tmp_path.glob("deskhand.db*"):
        path.unlink()
    assert library.rebuild({"data_dir": tmp_path}, as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == {"restored": 1, "forgotten": 0}
    assert library.rebuild({"data_dir": tmp_path}, as_json=False) == 0
    assert capsys.readouterr().out == "0 files are known again, 0 are forgotten\n"


def test_it_is_refused_while_a_control_plane_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with held(tmp_path):
        assert library.rebuild({"data_dir": tmp_path}, as_json=False) == 4
    assert "is in use by" in capsys.readouterr().err
