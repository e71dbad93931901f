import pytest

from deskhand.tools.agents.checkpoints.own_summary import SUMMARY_REQUEST, summary_message
from deskhand.tools.agents.scripted.script.summary import (
    ScriptState,
    asks_for_summary,
    state_of,
    states,
    summary_text,
)

STATE = ScriptState(("Go to 'x'.", "ä"), "toolu_r0s1t0c_0_n")


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_the_newest_text_asks_for_a_summary() -> None:
    asked = {"role": "user", "content": [text("Go."), text(SUMMARY_REQUEST)]}
    assert asks_for_summary([asked])
    assert not asks_for_summary([asked, {"role": "user", "content": [text("Go on.")]}])
    assert not asks_for_summary([{"role": "user", "content": [{"type": "tool_result"}]}])
    assert not asks_for_summary([])


def test_a_state_is_read_from_both_kinds_of_summary() -> None:
    made = summary_text(STATE)
    message = summary_message(made).content[0]
    own = text(getattr(message, "text", ""))
    block = {"type": "compaction", "content": made}
    assert state_of(own) == state_of(block) == STATE
    assert list(states([{"content": [text("x"), own]}, {"content": [block]}])) == [STATE, STATE]


@pytest.mark.parametrize(
    "block",
    [
        text("Go."),
        {"type": "tool_result", "content": summary_text(STATE)},
        text("Script: {no}"),
        text('Script: {"texts": []}'),
        text('Script: {"texts": 3, "call": null}'),
    ],
)
def test_other_blocks_have_none(block: dict[str, str]) -> None:
    assert state_of(block) is None
