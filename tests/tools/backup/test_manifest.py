"""Manifests of backups."""

import hashlib
import json
from typing import Any

import pytest

from deskhand.tools.backup.errors import DamagedBackup
from deskhand.tools.backup.manifest import (
    BackedUpFile,
    Manifest,
    backup_names,
    manifest_name,
    object_name,
    parse_manifest,
)

HASH = "ab" * 32
MANIFEST = Manifest(0.5, "1.0", (BackedUpFile("files/a", 3, HASH, 7),), "key", "wrapped")


def with_digest(fields: dict[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return json.dumps({**fields, "sha256": hashlib.sha256(text.encode()).hexdigest()})


def changed(**fields: Any) -> str:
    found = {**json.loads(MANIFEST.to_text()), **fields}
    del found["sha256"]
    return with_digest(found)


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert parse_manifest(MANIFEST.to_text()) == MANIFEST
    assert (MANIFEST.name, MANIFEST.size) == ("19700101T000000.500Z", 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (MANIFEST.to_text()[:-1], "cannot be read"),
        ("[]", "cannot be read"),
        (MANIFEST.to_text().replace("1.0", "2.0"), "was changed"),
        (changed(format=2), "format 2"),
        (changed(more=1), "other fields"),
        *(
            (changed(files=[{"path": path, "size": 3, "sha256": HASH, "modified": 7}]), "outside")
            for path in ("/etc/passwd", "files/../../a", "")
        ),
        *(
            (changed(files=[{"path": "a", "size": 3, "sha256": sha, "modified": 7}]), "no hash")
            for sha in ("ab", "../" * 21 + "a")
        ),
    ],
)
def test_a_manifest_that_cannot_be_trusted_is_refused(text: str, reason: str) -> None:
    with pytest.raises(DamagedBackup, match=reason):
        parse_manifest(text)


def test_backups_are_listed_by_time() -> None:
    names = [
        manifest_name("2"),
        object_name(HASH),
        manifest_name("1"),
        "backups/.x",
        "a/backups/3.json",
    ]
    assert backup_names(names) == ["1", "2"]
