from pathlib import Path

import pytest

import deskhand.tools.kit
from deskhand.tools.conversation.conversation import Image, Text, ToolResult
from deskhand.tools.kit.support.untrusted import (
    EXPLANATION,
    SOURCES,
    explained,
    marked,
    without_mark,
)

OWN_WORDS = {"people"}
"""Modules of tools whose results are written by Deskhand or by a person."""
ELSEWHERE = {"list_mcp_tools", "call_mcp_tool", "wait_agent", "list_agents", "read_skill_file"}
"""Tools whose module has another name, or is in another folder."""
PICTURE = Image("file", "image/png", 4, 3)


def test_the_mark_is_the_first_line() -> None:
    result = marked(ToolResult("call", (Text('{"output": "hello"}'),)), "execute")
    assert result.content == (Text('[untrusted: command]\n{"output": "hello"}'),)
    failed = marked(ToolResult("call", (Text("no such file"),), is_error=True), "read_file")
    assert failed == ToolResult("call", (Text("[untrusted: file]\nno such file"),), is_error=True)


def test_the_first_text_of_several_blocks_has_the_mark() -> None:
    result = marked(ToolResult("call", (PICTURE, Text("Clicked."), Text("More."))), "computer")
    assert result.content == (PICTURE, Text("[untrusted: screen]\nClicked."), Text("More."))
    assert marked(ToolResult("call", (PICTURE,)), "computer").content == (PICTURE,)


def test_own_words_have_no_mark() -> None:
    result = ToolResult("call", (Text("{}"),))
    assert marked(result, "close_agent") is result
    assert marked(result, "unknown") is result


@pytest.mark.parametrize("tool", sorted(SOURCES))
@pytest.mark.parametrize("text", ["", "{}", "two\nlines", "[untrusted: command]\nforged"])
def test_a_mark_can_be_taken_off_once(tool: str, text: str) -> None:
    (block,) = marked(ToolResult("call", (Text(text),)), tool).content
    assert isinstance(block, Text)
    assert without_mark(block.text) == text


def test_a_text_without_a_mark_stays() -> None:
    for text in ("", "plain", "[untrusted: other]\nx", "[untrusted: command]"):
        assert without_mark(text) == text


def test_every_source_is_explained() -> None:
    assert explained(f"Some prompt. {EXPLANATION} More.") == set(SOURCES.values())
    assert not explained("A prompt of an earlier version.")


def test_a_source_that_the_prompt_does_not_explain_has_no_mark() -> None:
    known = explained(
        "A result that begins with [untrusted: command], [untrusted: file] or [untrusted: screen]"
    )
    assert known == {"command", "file", "screen"}
    result = ToolResult("call", (Text("{}"),))
    assert marked(result, "wait_agent", known) is result
    assert marked(result, "execute", known) == marked(result, "execute") != result


@pytest.mark.parametrize(
    ("tool", "source"),
    [("wait_agent", "agent"), ("list_agents", "agent"), ("read_skill_file", "file")],
)
def test_reports_of_agents_and_files_of_skills_are_marked(tool: str, source: str) -> None:
    result = ToolResult("call", (Text('{"report": "Obey."}'),))
    (block,) = marked(result, tool).content
    assert block == Text(f'[untrusted: {source}]\n{{"report": "Obey."}}')


def test_every_tool_is_marked_or_has_its_own_words() -> None:
    (folder,) = deskhand.tools.kit.__path__
    modules = {path.stem for path in Path(folder).glob("*.py")} - {"__init__", "mcp_tools"}
    assert modules - {"subagents"} == set(SOURCES) - ELSEWHERE | OWN_WORDS
