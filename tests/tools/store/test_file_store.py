import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from deskhand.tools.store.file_store import FileStore


def test_a_saved_file_is_found_under_the_start_of_its_id(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    stored = store.save(b"pixels")
    assert store.path(stored.id) == tmp_path / stored.id[:2] / stored.id
    assert store.root == tmp_path
    assert store.load(stored.id) == b"pixels"
    assert (stored.size, stored.sha256) == (6, hashlib.sha256(b"pixels").hexdigest())


def test_saving_leaves_no_unfinished_file(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    stored = store.save(b"pixels")
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == [stored.id]


def test_an_adopted_file_is_moved_not_copied(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "files")
    source = store.incoming()
    source.write_bytes(b"video")
    inode = source.stat().st_ino
    stored = store.adopt(source)
    assert not source.exists()
    assert store.path(stored.id).stat().st_ino == inode
    assert (stored.size, stored.sha256) == (5, hashlib.sha256(b"video").hexdigest())


def test_adopting_what_is_not_there_stores_nothing(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "files")
    with pytest.raises(FileNotFoundError):
        store.adopt(tmp_path / "gone")
    assert not (tmp_path / "files").exists()


def test_what_was_never_adopted_is_swept_away(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "files")
    store.sweep()
    kept = store.save(b"kept")
    left = store.incoming()
    left.write_bytes(b"half a video")
    store.sweep()
    assert not left.exists()
    assert store.load(kept.id) == b"kept"


def test_a_file_can_be_deleted_twice(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    stored = store.save(b"")
    store.delete(stored.id)
    store.delete(stored.id)
    assert not store.path(stored.id).exists()


def test_files_are_described_beside_their_bytes(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    first, second = sorted((store.save(b"1").id, store.save(b"2").id))
    store.describe(second, "second ☃")
    store.describe(first, "old")
    store.describe(first, "first")
    store.describe("00-gone", "described, but its bytes are not here")
    assert list(store.descriptions()) == [(first, "first"), (second, "second ☃")]
    store.delete(first)
    assert list(store.descriptions()) == [(second, "second ☃")]


def test_stamps_name_every_file_with_bytes_or_a_description(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    plain, full = store.save(b"1").id, store.save(b"2").id
    store.describe(full, "words")
    store.describe("00-gone", "words")
    stamps = dict(store.stamps())
    assert set(stamps) == {plain, full, "00-gone"}
    written = store.path(plain).stat().st_mtime_ns
    assert stamps[plain] == (written, None)
    assert None not in stamps[full]
    assert stamps["00-gone"][0] is None


def test_a_file_is_dropped_only_as_it_was_when_it_was_stamped(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    file_id = store.save(b"1").id
    before = dict(store.stamps())[file_id]
    store.describe(file_id, "written since")
    assert not store.drop(file_id, before)
    assert store.load(file_id) == b"1"
    assert store.drop(file_id, dict(store.stamps())[file_id])
    assert list(store.stamps()) == []


def test_queued_removals_survive_until_they_are_done(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    assert store.queued_removals() == []
    store.queue_removal(["b", "a", "a"])
    assert FileStore(tmp_path).queued_removals() == ["a", "b"]
    store.finish_removal(["a", "never condemned"])
    assert store.queued_removals() == ["b"]


def test_a_linked_file_stays_at_its_source_and_may_be_stored_again(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "files")
    source = tmp_path / "copy"
    source.write_bytes(b"video")
    expected = ("one", 5, hashlib.sha256(b"video").hexdigest())
    for _ in range(2):
        stored = store.link(source, "one")
        assert (stored.id, stored.size, stored.sha256) == expected
        assert source.exists()
        assert [path.name for path in (tmp_path / "files").rglob("*") if path.is_file()] == ["one"]
    assert store.load("one") == b"video"


def test_a_pack_has_the_files_that_are_here_when_it_is_written(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    one, two, three = (store.save(data).id for data in (b"1", b"22", b"333"))
    store.delete(one)

    def head_of(sizes: Sequence[tuple[str, int]]) -> bytes:
        # The first attempt finds this one, which is then removed.
        store.delete(two)
        return str(len(sizes)).encode()

    assert store.write_pack("a.pack", head_of, [one, two, three])
    assert store.pack_path("a.pack").read_bytes() == b"1333"
    assert not store.write_pack("b.pack", head_of, [one, two])
    assert store.packs() == ["a.pack"]
    store.remove_pack("a.pack")
    store.remove_pack("a.pack")
    assert not list((tmp_path / "packs").iterdir())


def test_a_file_is_restored_unless_it_is_here(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    store.restore("ab-1", b"one")
    store.restore("ab-1", b"two")
    assert store.load("ab-1") == b"one"
    assert [file_id for file_id, _ in store.stamps()] == ["ab-1"]
