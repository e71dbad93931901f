"""The libraries of the pages are those of the table, unchanged."""

import hashlib
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
VENDOR = ROOT / "tools/control_plane/assets/vendor"
TABLE: list[dict[str, Any]] = json.loads((ROOT / "scripts/pages/vendored.json").read_text())


def test_each_file_has_the_hash_of_the_table() -> None:
    listed = {name: digest for library in TABLE for name, digest in library["files"].items()}
    # Descriptions of types for the checker are our own.
    present = {
        path.relative_to(VENDOR).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.rglob("*")
        if path.is_file() and not path.name.endswith(".d.ts")
    }
    assert present == listed


def test_each_library_has_a_version_and_its_licence() -> None:
    for library in TABLE:
        assert library["version"], library["name"]
        assert library["licence"], library["name"]
        assert any(name.endswith("/LICENSE") for name in library["files"]), library["name"]
