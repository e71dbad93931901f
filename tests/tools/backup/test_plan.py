"""Decisions of incremental backups."""

import pytest

from deskhand.tools.backup.manifest import BackedUpFile, Manifest, object_name
from deskhand.tools.backup.plan import BackedUp, complete, is_backed_up, is_replaced_whole

ONE = BackedUpFile("files/aa/one", 3, "aa" * 32, 7)
TWO = BackedUpFile("files/bb/two.json", 3, "bb" * 32, 7)
TOKEN = BackedUpFile("token", 5, "cc" * 32, 7)


@pytest.mark.parametrize("path", ["token", "files/aa/x", "files/aa/x.json", "playbooks/incoming/a"])
def test_data_is_backed_up(path: str) -> None:
    assert is_backed_up(path)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "run/plane.json",
            "lock",
            "reserve",
            "logs/a.jsonl",
            "secrets.key",
            ".backup/deskhand.db",
        ),
        *("deskhand.db", "deskhand.db-wal", "deskhand.db.before-0062"),
        *("files/incoming/x", "files/packs/x.pack", "files/aa/.x.part"),
    ],
)
def test_what_belongs_to_a_process_or_is_unfinished_is_not(path: str) -> None:
    assert not is_backed_up(path)


def test_only_stored_files_never_change_in_place() -> None:
    assert (is_replaced_whole("files/aa/x"), is_replaced_whole("playbooks/a.yaml")) == (True, False)


def test_an_unchanged_file_whose_bytes_are_there_is_not_read_again() -> None:
    known = BackedUp(Manifest(0.0, "1", (ONE, TOKEN)), [object_name(ONE.sha256)])
    assert known.unchanged(ONE.path, 3, 7) == ONE
    assert known.unchanged(ONE.path, 3, 8) is None
    assert known.unchanged("other", 3, 7) is None
    assert known.unchanged(TOKEN.path, 5, 7) is None
    known.added(TOKEN.sha256)
    assert known.unchanged(TOKEN.path, 5, 7) == TOKEN
    assert BackedUp(None, []).unchanged(ONE.path, 3, 7) is None


def test_a_file_that_was_removed_meanwhile_is_kept_if_the_database_names_it() -> None:
    assert complete([ONE, TWO, TOKEN], [TOKEN], {"two"}) == (TWO, TOKEN)
    assert complete([], [TWO, ONE], set()) == (ONE, TWO)
