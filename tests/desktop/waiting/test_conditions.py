"""Conditions of a wait: how a request gives them, and when facts meet them."""

import pytest

from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.geometry import Region, Size, space
from deskhand.desktop.waiting.conditions import (
    CONDITIONS,
    Conditions,
    Facts,
    read_conditions,
    seen,
    unmet,
)

NATIVE = Size(1920, 1080)
SPACE = space("model", NATIVE)


def test_a_request_gives_conditions_in_its_own_space() -> None:
    found = read_conditions(
        {
            "text": "Done",
            "window": "Mail",
            "changed_region": [10, 20, 30, 40],
            "quiet_ms": 300,
            "process": "p1",
            "url": "/inbox",
            "timeout_seconds": 5,
            "screenshot": False,
        },
        NATIVE,
    )
    region = Region(15, 30, 45, 60)
    assert found == Conditions(SPACE, "Done", "Mail", region, 300, "p1", "/inbox", 5.0, False)


def test_the_usual_wait_takes_30_seconds_and_ends_with_a_screenshot() -> None:
    found = read_conditions({"text": "Done", "window": None}, NATIVE)
    assert (found.seconds, found.screenshot, found.changed_region) == (30.0, True, None)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "Nothing to wait for"),
        ({"timeout_seconds": 3}, "Nothing to wait for"),
        ({"title": "x"}, "title"),
        ({"text": " "}, "decode"),
        ({"text": 3}, "decode"),
        ({"quiet_ms": 0}, '"quiet_ms" must be from 1 to 30000'),
        ({"text": "x", "timeout_seconds": 301}, '"timeout_seconds" must be from 0 to 300'),
        ({"text": "x", "screenshot": 1}, "decode"),
        ({"changed_region": [5, 5, 5, 9]}, "changed_region"),
        ({"changed_region": [2000, 5, 2100, 9]}, "must have a part of the screen"),
    ],
)
def test_a_request_that_is_wrong_is_refused_with_the_reason(
    body: dict[str, object], problem: str
) -> None:
    with pytest.raises(InvalidAction, match=problem):
        read_conditions(body, NATIVE)


def test_all_conditions_must_hold() -> None:
    wanted = Conditions(SPACE, "done", "mail", Region(0, 0, 9, 9), 100, "p1", "inbox")
    assert unmet(wanted, Facts()) == CONDITIONS
    facts = Facts(("All Done",), ("Mail - 3",), ("http://a/Inbox",), True, True, True)
    assert unmet(wanted, facts) == ()


def test_what_is_not_asked_for_is_met() -> None:
    assert unmet(Conditions(SPACE, text="x"), Facts()) == ("text",)
    assert unmet(Conditions(SPACE, window="x"), Facts(("x",))) == ("window",)


def test_after_a_timeout_the_nearest_texts_are_named() -> None:
    texts = ("Cancel", "Download failed", "Minimize")
    found = seen(Conditions(SPACE, text="Download finished"), Facts(texts, ("Files",)))
    assert found["texts"][0] == "Download failed"
    assert found["windows"] == ["Files"]
    assert "urls" not in found


def test_what_was_seen_has_the_facts_of_each_condition() -> None:
    wanted = Conditions(SPACE, "", "", Region(0, 0, 9, 9), 100, "p1", "inbox")
    assert seen(wanted, Facts(urls=("http://a/",), exited=True)) == {
        "windows": [],
        "urls": ["http://a/"],
        "changed": False,
        "quiet": False,
        "process_running": False,
    }
