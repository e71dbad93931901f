import stat
from pathlib import Path

import pytest

from deskhand.tools.store.private_file import write_private


def test_only_the_owner_can_read_it_even_if_others_could_before(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("old")
    file.chmod(0o644)
    write_private(file, "grün")
    assert file.read_text(encoding="utf-8") == "grün"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_what_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "token"
    write_private(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_private(file, "\ud800")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
