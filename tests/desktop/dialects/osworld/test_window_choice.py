from typing import Any

from deskhand.desktop.dialects.osworld.bodies import WindowBody
from deskhand.desktop.dialects.osworld.window_choice import chosen, is_terminal, of_class, opened

WINDOWS: list[dict[str, Any]] = [
    {"id": 1, "title": "Notes - Editor", "class": "Mousepad"},
    {"id": 2, "title": None, "class": "XTerm"},
]


def found(name: str, *, strict: bool = False, by_class: bool = False) -> object:
    window = chosen(WINDOWS, WindowBody(name, strict, by_class))
    return None if window is None else window["id"]


def test_a_window_is_found_by_a_part_of_its_title_or_its_class() -> None:
    assert found("notes") == 1
    assert found("notes", strict=True) is None
    assert found("Notes - Editor", strict=True) == 1
    assert found("xterm", by_class=True) == 2
    assert found("other") is None
    window = of_class(WINDOWS, "xterm")
    assert window is not None
    assert window["id"] == 2


def test_a_file_is_open_in_a_new_window_or_one_with_its_name() -> None:
    assert opened({1}, WINDOWS, "/tmp/other.txt")
    assert opened({1, 2}, WINDOWS, "/tmp/notes.txt")
    assert opened({1, 2}, WINDOWS, "file:///tmp/Notes.txt")
    assert not opened({1, 2}, WINDOWS, "/tmp/other.txt")
    assert not opened({1, 2}, WINDOWS, "https://example.com")


def test_an_xterm_with_a_known_process_is_a_terminal() -> None:
    assert is_terminal({**WINDOWS[1], "pid": 7})
    assert not is_terminal({**WINDOWS[1], "pid": None})
    assert not is_terminal({**WINDOWS[0], "pid": 7})
    assert not is_terminal({"class": None, "pid": 7})
