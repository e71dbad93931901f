import json

from deskhand.desktop.git.repository_state import (
    LARGEST_DIFF,
    Known,
    Repository,
    bounded,
    messages,
    without_secret,
)

HERE = Repository("/r", "main", "", "")
CHANGED = Repository("/r", "main", "", "+x")


def test_only_changes_are_reported() -> None:
    known = Known()
    assert known.diff({"/r": HERE}) == [HERE.to_json()]
    assert known.diff({"/r": HERE}) == []
    assert known.diff({}) == []
    assert known.diff({"/r": CHANGED}) == [CHANGED.to_json()]
    assert known.roots == ["/r"]


def test_a_repository_is_taken_back_once() -> None:
    known = Known()
    known.diff({"/r": CHANGED})
    (removed,) = known.diff({"/r": None})
    assert removed == HERE.to_json() | {"removed": True}
    assert known.diff({"/r": None}) == []
    assert known.roots == []


def test_several_repositories_share_a_message_while_there_is_room() -> None:
    items = [{"repo_root": f"/{n}", "unified_diff": "x" * 400} for n in range(4)]
    assert len(messages(items, "now")) == 1
    pages = [json.loads(text) for text in messages(items, "now", largest=1_200)]
    assert [len(page["repositories"]) for page in pages] == [2, 2]
    assert {page["type"] for page in pages} == {"changes"}
    assert messages([], "now") == []


def test_a_diff_that_is_too_long_is_named_by_its_size() -> None:
    assert bounded("+x", 2) == "+x"
    assert str(LARGEST_DIFF + 1) in bounded("x", LARGEST_DIFF + 1)
    # As JSON a control character takes six bytes.
    assert "too large" in bounded("\x01" * (LARGEST_DIFF // 2), LARGEST_DIFF // 2)


def test_no_password_stands_in_an_address() -> None:
    assert without_secret("https://me:secret@host/r.git") == "https://host/r.git"
    assert without_secret("git@host:r.git") == "git@host:r.git"
    assert without_secret("https://host/a@b") == "https://host/a@b"
