"""Hash chains of the audit log: records are linked, and a change of any is found. Pure.

Each writer (a control plane, or a node) numbers its own records from 1, so that logs of several
writers can be joined. The hash of a record covers its fields and the hash of the record before it.
Records that are older than the retention are removed from the beginning of a chain. A record of the
removal names the last one that was removed, with its hash, so that the rest can be verified.

A chain proves that nothing was changed or removed within it. Records that were removed from its end
are found only by comparison with a head (number and hash) that was kept elsewhere.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]

BEGINNING = "0" * 64
"""Stands in place of the hash before the first record."""
EXPIRED = "audit.expired"
"""Action of the record of a removal; the details have ``through`` and ``hash``."""


@dataclass(frozen=True)
class AuditEvent:
    """An event to record; the details must not contain any value of a secret."""

    at: float
    """Unix time in seconds."""
    actor: str
    """Name of the credential, or ``chat:ID``."""
    action: str
    subject: str
    """The desktop, chat or secret that the event is about."""
    details: Json = field(default_factory=dict)


@dataclass(frozen=True)
class AuditRecord:
    """An event in the chain of its writer."""

    writer: str
    n: int
    event: AuditEvent
    previous: str
    hash: str

    def to_json(self) -> Json:
        """Return the record in the form of the HTTP API."""
        event = self.event
        return {
            "writer": self.writer,
            "n": self.n,
            "at": event.at,
            "actor": event.actor,
            "action": event.action,
            "subject": event.subject,
            "details": event.details,
            "previous": self.previous,
            "hash": self.hash,
        }


def record_of(fields: Json) -> AuditRecord:
    """Return the record that `AuditRecord.to_json` has described.

    Raises:
        KeyError: If a field is missing.
        TypeError, ValueError: If one is of another type.
    """
    actor, action, subject, writer, previous, digest = (
        str(fields[name]) for name in ("actor", "action", "subject", "writer", "previous", "hash")
    )
    event = AuditEvent(float(fields["at"]), actor, action, subject, dict(fields["details"]))
    return AuditRecord(writer, int(fields["n"]), event, previous, digest)


@dataclass(frozen=True)
class ChainHead:
    """The newest record of a writer."""

    writer: str
    n: int = 0
    hash: str = BEGINNING


def linked(events: Iterable[AuditEvent], head: ChainHead) -> list[AuditRecord]:
    """Return the records of events that follow a head."""
    records: list[AuditRecord] = []
    for event in events:
        record = AuditRecord(head.writer, head.n + 1, event, head.hash, "")
        record = replace(record, hash=record_hash(record))
        records.append(record)
        head = ChainHead(head.writer, record.n, record.hash)
    return records


def record_hash(record: AuditRecord) -> str:
    """Return the hash of a record: SHA-256 of its fields as canonical JSON."""
    fields = record.to_json()
    del fields["hash"]
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def merged(events: Sequence[AuditEvent]) -> list[AuditEvent]:
    """Return events with equal neighbours as one, whose details have their number (``times``)."""
    found: list[tuple[AuditEvent, int]] = []
    for event in events:
        if found and replace(event, at=0.0) == replace(found[-1][0], at=0.0):
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((event, 1))
    return [
        event if times == 1 else replace(event, details={**event.details, "times": times})
        for event, times in found
    ]


class ChainVerifier:
    """Checks the records of all writers, which come by writer and number."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        """Sentences; empty if all chains are intact."""
        self._heads: dict[str, ChainHead] = {}
        self._begun: dict[str, tuple[int, str]] = {}
        """Number and hash of the record before the first one, of chains that were shortened."""
        self._removed: set[tuple[str, int, str]] = set()

    @property
    def heads(self) -> list[ChainHead]:
        """The newest record of each writer, by writer."""
        return [self._heads[writer] for writer in sorted(self._heads)]

    def add(self, record: AuditRecord) -> None:
        """Check the next record."""
        head = self._heads.get(record.writer)
        name = f"record {record.n} of {record.writer}"
        if head is None:
            self._begun[record.writer] = (record.n - 1, record.previous)
        elif record.n != head.n + 1:
            self.problems.append(f"{name} follows record {head.n}: records are missing")
        elif record.previous != head.hash:
            self.problems.append(f"{name} does not continue the record before it")
        if record_hash(record) != record.hash:
            self.problems.append(f"{name} was changed")
        if record.event.action == EXPIRED:
            self._removed.add(_removal(record.event))
        self._heads[record.writer] = ChainHead(record.writer, record.n, record.hash)

    def finish(self) -> list[str]:
        """Check the beginnings of the chains, and return all problems."""
        for writer, (n, previous) in self._begun.items():
            whole = (n, previous) == (0, BEGINNING)
            if not whole and (writer, n, previous) not in self._removed:
                self.problems.append(f"the records of {writer} up to {n} were removed")
        return self.problems


def removal(removed: AuditRecord, now: float) -> AuditEvent:
    """Return the event that records the removal of a chain's records up to one of them."""
    details = {"through": removed.n, "hash": removed.hash}
    return AuditEvent(now, "deskhand", EXPIRED, removed.writer, details)


def _removal(event: AuditEvent) -> tuple[str, int, str]:
    details: Mapping[str, Any] = event.details
    return event.subject, int(details.get("through", 0)), str(details.get("hash", ""))
