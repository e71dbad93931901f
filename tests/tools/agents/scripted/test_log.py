import json
from pathlib import Path

from deskhand.tools.agents.scripted.log import LARGEST_FILE, MOST_ENTRIES, LogEntry, RequestLog
from deskhand.tools.agents.scripted.script.request import Measured

ENTRY = LogEntry("demo", 200, 3, (Measured("image/png", 1280, 720),), step=2)


def test_entries_are_kept_in_memory_without_a_file() -> None:
    with RequestLog(None) as log:
        log.add(ENTRY)
    assert list(log.entries) == [ENTRY]


def test_neither_memory_nor_file_grows_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with RequestLog(path) as log:
        for _ in range(MOST_ENTRIES + 1):
            log.add(ENTRY)
    assert len(log.entries) == MOST_ENTRIES
    assert len(path.read_text().splitlines()) == MOST_ENTRIES + 1


def test_each_entry_is_a_line_of_json_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    for _ in range(2):
        with RequestLog(path) as log:
            log.add(ENTRY)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 2
    assert lines[0]["picture_count"] == 1
    assert lines[0]["pictures"] == [{"media_type": "image/png", "width": 1280, "height": 720}]
    assert (lines[0]["model"], lines[0]["step"]) == ("demo", 2)
