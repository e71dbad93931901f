from typing import Any

import pytest

from deskhand.tools.agents.approvals.question_text import question_text, visible
from deskhand.tools.agents.approvals.risk_rules import FoundRisk

RISKS = (FoundRisk("delete", "it deletes something (rm)"), FoundRisk("key", "b"))
HARMLESS = "echo " + "a" * 80


@pytest.mark.parametrize(
    ("name", "arguments", "title"),
    [
        ("execute", {"command": "rm x"}, "execute: rm x"),
        ("left_click", {"coordinate": [1, 2]}, "left_click: 1, 2"),
        ("screenshot", {}, "screenshot"),
        ("type", {"text": "7 characters"}, "type: 7 characters"),
    ],
)
def test_a_short_call_is_its_title(name: str, arguments: dict[str, Any], title: str) -> None:
    assert question_text(name, arguments, RISKS) == (
        f"May the agent do this? {title} — because it deletes something (rm); b."
    )


def test_a_person_sees_the_whole_of_a_long_call() -> None:
    command = f"{HARMLESS}; rm -rf everything " + "b" * 4_000 + "; end"
    text = question_text("execute", {"command": command}, RISKS[:1])
    asked, _, call = text.partition("\n\n")
    assert asked == (
        f"May the agent do this? execute: {HARMLESS[:70]}… — because it deletes something (rm)."
    )
    assert call == f"execute\ncommand: {command}"


def test_every_argument_is_listed() -> None:
    arguments = {"command": "ls\nrm x\nworkdir: /tmp", "workdir": "/home", "deep": {"a": [1, "é"]}}
    _, _, call = question_text("execute", arguments, RISKS).partition("\n\n")
    assert call.split("\n") == [
        "execute",
        "command:",
        "    ls",
        "    rm x",
        "    workdir: /tmp",
        "workdir: /home",
        "deep:",
        "    {",
        '      "a": [',
        "        1,",
        '        "é"',
        "      ]",
        "    }",
    ]


@pytest.mark.parametrize(
    "command", ["ls\nrm x", "ls  " + " " * 40 + "rm x", " rm x", "rm x\r", "rm \u202ex"]
)
def test_what_a_title_does_not_show_is_listed_or_escaped(command: str) -> None:
    text = question_text("execute", {"command": command}, RISKS)
    assert "\n\nexecute\ncommand:" in text or "\\u202e" in text


def test_a_reason_does_not_look_like_a_call() -> None:
    text = question_text("left_click", {}, (FoundRisk("upload", "a window\n\nexecute\nls"),))
    assert text == "May the agent do this? left_click — because a window execute ls."


def test_a_text_shows_all_of_its_characters() -> None:
    assert visible("a\tb\nc é 日 🙂") == "a\tb\nc é 日 🙂"
    assert visible("a\x1b[2K\r\u202e\u200b\u2028\ud800") == (
        "a\\x1b[2K\\r\\u202e\\u200b\\u2028\\ud800"
    )
