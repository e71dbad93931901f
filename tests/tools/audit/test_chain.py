from dataclasses import replace

import pytest

from deskhand.tools.audit.chain import (
    AuditEvent,
    AuditRecord,
    ChainHead,
    ChainVerifier,
    linked,
    merged,
    record_of,
    removal,
)

EVENTS = [AuditEvent(float(n), "owner", "request", f"d{n}", {"n": n}) for n in range(1, 6)]


def verified(*chains: list[AuditRecord]) -> ChainVerifier:
    verifier = ChainVerifier()
    for chain in chains:
        for record in chain:
            verifier.add(record)
    verifier.finish()
    return verifier


def chain(writer: str = "one") -> list[AuditRecord]:
    return linked(EVENTS, ChainHead(writer))


def test_records_of_several_writers_are_chains_of_their_own() -> None:
    result = verified(chain("one"), chain("two"))
    assert result.problems == []
    assert [(head.writer, head.n) for head in result.heads] == [("one", 5), ("two", 5)]
    assert result.heads[0].hash != result.heads[1].hash


@pytest.mark.parametrize(
    "change", [{"actor": "x"}, {"at": 0.0}, {"details": {}}, {"subject": ""}, {"action": "x"}]
)
def test_a_changed_record_is_found(change: dict[str, object]) -> None:
    records = chain()
    records[2] = replace(records[2], event=replace(EVENTS[2], **change))  # type: ignore[arg-type]
    assert verified(records).problems == ["record 3 of one was changed"]


def test_a_record_that_was_written_anew_does_not_continue_the_chain() -> None:
    records = chain()
    forged = linked([replace(EVENTS[2], actor="x")], ChainHead("one", 2, records[1].hash))
    assert verified([*records[:2], *forged, *records[3:]]).problems == [
        "record 4 of one does not continue the record before it"
    ]


def test_a_missing_record_is_found() -> None:
    records = chain()
    assert verified([*records[:2], *records[3:]]).problems == [
        "record 4 of one follows record 2: records are missing"
    ]
    assert verified(records[2:]).problems == ["the records of one up to 2 were removed"]


def test_a_chain_whose_old_records_were_removed_and_that_is_recorded_is_intact() -> None:
    records = chain()
    last = records[-1]
    kept = records[2:] + linked([removal(records[1], 9.0)], ChainHead("one", last.n, last.hash))
    assert verified(kept).problems == []
    other = linked([removal(records[1], 9.0)], ChainHead("two"))
    assert verified(records[2:], other).problems == []
    forged = linked([removal(replace(records[1], hash="0"), 9.0)], ChainHead("two"))
    assert verified(records[2:], forged).problems == ["the records of one up to 2 were removed"]


def test_a_record_is_read_from_its_json() -> None:
    for record in chain():
        assert record_of(record.to_json()) == record
    for wrong in ({}, {**chain()[0].to_json(), "n": "x"}, {**chain()[0].to_json(), "details": 7}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            record_of(wrong)


def test_equal_neighbours_become_one_event_with_their_number() -> None:
    first, second = EVENTS[:2]
    later = replace(first, at=7.0)
    assert merged([first, later, second, first]) == [
        replace(first, details={"n": 1, "times": 2}),
        second,
        first,
    ]
