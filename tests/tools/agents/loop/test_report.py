from typing import Any

import pytest

from deskhand.desktop.errors import BadField
from deskhand.tools.agents.loop.report import (
    REPORT_SPEC,
    Report,
    assumed_report,
    read_report,
    text_of,
    with_report,
)
from deskhand.tools.conversation.conversation import Text, ToolCall
from deskhand.tools.kit.support.spec import ToolSpec


def test_a_report_is_read_with_its_evidence() -> None:
    given = {"summary": " Found it. ", "outcome": "blocked", "evidence": [3, "the login page"]}
    expected = Report("Found it.", "blocked", "report", (3, "the login page"))
    assert read_report(given) == expected


def test_evidence_may_be_missing() -> None:
    assert read_report({"summary": "x", "outcome": "done"}).evidence == ()
    assert read_report({"summary": "x", "outcome": "done", "evidence": None}).evidence == ()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"outcome": "done"}, "summary"),
        ({"summary": "  ", "outcome": "done"}, "summary"),
        ({"summary": 3, "outcome": "done"}, "summary"),
        ({"summary": "x"}, "outcome"),
        ({"summary": "x", "outcome": "great"}, "outcome"),
        ({"summary": "x", "outcome": "done", "evidence": "step 3"}, "evidence"),
        ({"summary": "x", "outcome": "done", "evidence": [[1]]}, "evidence"),
    ],
)
def test_a_wrong_report_names_what_is_wrong(arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(BadField, match=word):
        read_report(arguments)


def test_plain_text_is_assumed_to_report_success() -> None:
    content = (Text("First. "), ToolCall("c", "execute", {}), Text(""), Text("Second."))
    assert assumed_report(content) == Report("First.\n\nSecond.", "done", "assumed")
    assert text_of(()) == ""


def test_the_tool_names_every_outcome() -> None:
    outcomes = REPORT_SPEC.schema["properties"]["outcome"]["enum"]
    assert outcomes == ["done", "partly", "blocked", "failed"]


def test_the_report_tool_is_offered_behind_the_others_and_once() -> None:
    other = ToolSpec("execute", "Runs.", {"type": "object"})
    kept = ToolSpec("report", "As the chat began with it.", {"type": "object"})
    assert with_report((other,)) == (other, REPORT_SPEC)
    assert with_report((kept, other)) == (kept, other)
