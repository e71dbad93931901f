import resource
import signal
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from deskhand.tools.audit.chain import AuditRecord, ChainVerifier
from deskhand.tools.audit.chain_file import BadChainFile, ChainFile, read_records

NOW = 1_700_000_000.0


def opened(folder: Path) -> ChainFile:
    return ChainFile(folder / "audit.jsonl", "n7", lambda: NOW)


def records(folder: Path) -> list[AuditRecord]:
    return list(read_records(folder / "audit.jsonl"))


def problems(found: list[AuditRecord]) -> list[str]:
    verifier = ChainVerifier()
    for record in found:
        verifier.add(record)
    return verifier.finish()


def test_a_chain_goes_on_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as chain:
        chain.note("p1", "node.start", "aaaaaaaa", {"chat": "ö"})
        chain.note("Ada", "desktop.live_view", "aaaaaaaa")
    with opened(tmp_path) as chain:
        chain.note("p2", "node.end", "aaaaaaaa")
    found = records(tmp_path)
    assert [(one.n, one.event.actor) for one in found] == [(1, "p1"), (2, "Ada"), (3, "p2")]
    assert found[0].event.details == {"chat": "ö"}
    assert {one.writer for one in found} == {found[0].writer}
    assert found[0].writer.startswith("n7-")
    assert problems(found) == []
    changed = replace(found[1], event=replace(found[1].event, actor="Bob"))
    assert problems([found[0], changed, found[2]]) == [f"record 2 of {changed.writer} was changed"]
    assert stat.S_IMODE((tmp_path / "audit.jsonl").stat().st_mode) == 0o600


def test_chains_of_two_data_directories_have_different_writers(tmp_path: Path) -> None:
    writers = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        with opened(tmp_path / name) as chain:
            chain.note("p1", "node.start", "aaaaaaaa")
        writers.add(records(tmp_path / name)[0].writer)
    assert len(writers) == 2


def test_a_line_that_was_not_written_to_its_end_is_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as chain:
        chain.note("p1", "node.start", "aaaaaaaa")
    with (tmp_path / "audit.jsonl").open("a") as file:
        file.write('{"writer": "n7')
    with opened(tmp_path) as chain:
        chain.note("p1", "node.end", "aaaaaaaa")
    assert [one.n for one in records(tmp_path)] == [1, 2]
    assert problems(records(tmp_path)) == []


def test_another_chain_begins_behind_a_line_that_is_no_record(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "audit.jsonl").write_text("{}\n")
    with opened(tmp_path) as chain:
        chain.note("p1", "node.start", "aaaaaaaa")
    assert "another chain begins" in caplog.text
    with pytest.raises(BadChainFile, match=r"line 1 of .* is no record"):
        records(tmp_path)


def test_events_that_find_no_room_are_written_later(tmp_path: Path) -> None:
    with opened(tmp_path) as chain:
        chain.note("p1", "node.start", "aaaaaaaa")
        size = (tmp_path / "audit.jsonl").stat().st_size
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        # A limit within the next record: what was written of it is removed again.
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            for limit in (size + 10, size):
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
                chain.note("p1", "node.end", f"limit {limit - size}")
                assert (tmp_path / "audit.jsonl").stat().st_size == size
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
        chain.note("p1", "node.start", "bbbbbbbb")
    found = records(tmp_path)
    assert [one.event.subject for one in found] == ["aaaaaaaa", "limit 10", "limit 0", "bbbbbbbb"]
    assert problems(found) == []
