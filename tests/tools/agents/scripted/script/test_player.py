import json
from typing import Any

import pytest

from deskhand.tools.agents.checkpoints.own_summary import SUMMARY_REQUEST
from deskhand.tools.agents.scripted.script.decode import decoded_here, pixels
from deskhand.tools.agents.scripted.script.player import (
    PlayedTurn,
    play,
    with_one_id,
    without_summary,
)
from deskhand.tools.agents.scripted.script.request import Measured, Request, SeenPicture
from deskhand.tools.agents.scripted.script.script import Script, read_script
from tests.tools.agents.loop.fakes import encoded, screen

Json = dict[str, Any]
RED = (0xE6, 0x19, 0x4B)
BLANK = encoded(screen(size=(40, 30)))
SHOWN = encoded(screen(((10, 20, 13, 23), RED), size=(40, 30)))


def script(*steps: Json) -> Script:
    return read_script("test", {"steps": list(steps)})


class Chat:
    """Plays a script against results that the test gives."""

    def __init__(self, *steps: Json, tools: tuple[str, ...] = (), computer: bool = True) -> None:
        self.script = script(*steps)
        self.messages: list[Json] = []
        self.pictures: list[bytes] = []
        self.tools = frozenset(tools)
        self.computer = computer

    def say(self, *texts: str) -> PlayedTurn:
        return self.send([{"type": "text", "text": text} for text in texts])

    def answer(self, *values: object, picture: bytes | None = None, say: str = "") -> PlayedTurn:
        """Answer the calls of the newest reply; a picture counts as part of the last result."""
        calls = [b for b in self.messages[-1]["content"] if b["type"] == "tool_use"]
        given = [*values, *[{}] * (len(calls) - len(values))]
        results = [
            {
                "type": "tool_result",
                "tool_use_id": call["id"],
                "content": value if isinstance(value, str) else json.dumps(value),
            }
            for call, value in zip(calls, given, strict=True)
        ]
        if picture is not None:
            self.pictures.append(picture)
        return self.send([*results, *([{"type": "text", "text": say}] if say else [])])

    def send(self, content: list[Json]) -> PlayedTurn:
        self.messages.append({"role": "user", "content": content})
        shown = tuple(SeenPicture(data, Measured("image/png", 40, 30)) for data in self.pictures)
        request = Request("test", True, tuple(self.messages), self.tools, self.computer, shown)
        turn = play(
            self.script, request, lambda data: pixels(data, decoded_here), f"n{len(self.messages)}"
        )
        self.messages.append({"role": "assistant", "content": list(turn.content)})
        return turn


def calls(turn: PlayedTurn) -> list[tuple[str, Json]]:
    return [(b["name"], b["input"]) for b in turn.content if b["type"] == "tool_use"]


def words(turn: PlayedTurn) -> str:
    return "".join(b["text"] for b in turn.content if b["type"] == "text")


RUN = {"calls": [{"execute": {"command": "ls"}}]}
HIT = {
    "needs": {"blob": "#e6194b", "tries": 2},
    "calls": [{"computer.left_click": {"coordinate": {"blob": "#e6194b"}}}],
}


def test_steps_are_played_one_a_reply() -> None:
    chat = Chat({"say": "Now.", **RUN}, {"say": "Done."})
    first = chat.say("Go.")
    assert (words(first), calls(first), first.stop_reason) == (
        "Now.",
        [("execute", {"command": "ls"})],
        "tool_use",
    )
    last = chat.answer()
    assert (words(last), calls(last), last.stop_reason, last.step) == ("Done.", [], "end_turn", 1)


def test_ids_are_unlike_each_other_and_members_bear_their_toolset() -> None:
    chat = Chat({"calls": [{"computer.screenshot": {}}, {"execute": {}}]}, RUN)
    first, second = chat.say("Go."), chat.answer()
    ids = [b["id"] for b in (*first.content, *second.content)]
    assert len(set(ids)) == 3
    assert [b.get("toolset_name") for b in first.content] == ["computer", None]


def test_a_message_after_the_end_begins_anew() -> None:
    chat = Chat(RUN, {"say": "Done with {prompt}."})
    chat.say("one")
    assert words(chat.answer()) == "Done with one."
    assert calls(chat.say("two")) == [("execute", {"command": "ls"})]
    assert words(chat.answer()) == "Done with two."
    ids = [b["id"] for m in chat.messages for b in m["content"] if b["type"] == "tool_use"]
    assert len(set(ids)) == len(ids)


def test_a_script_of_text_alone_is_played_turn_by_turn() -> None:
    chat = Chat({"say": "First."}, {"say": "Second."})
    assert [words(chat.say("a")), words(chat.say("b")), words(chat.say("c"))] == [
        "First.",
        "Second.",
        "First.",
    ]


def test_results_after_the_last_step_are_met_with_an_end() -> None:
    chat = Chat(RUN)
    chat.say("Go.")
    turn = chat.answer()
    assert (calls(turn), turn.stop_reason) == ([], "end_turn")
    assert words(turn)


def test_a_message_in_the_middle_does_not_move_the_script() -> None:
    chat = Chat(RUN, {"say": "Still {prompt}."})
    chat.say("one")
    assert words(chat.answer(say="hurry")) == "Still hurry."


def test_calls_of_others_in_the_conversation_are_passed_over() -> None:
    chat = Chat(RUN, {"say": "Done."})
    chat.messages = [
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_01AB", "name": "a", "input": {}}],
        },
    ]
    assert words(chat.answer()) == "Done."


def test_a_position_beyond_a_shortened_script_is_its_end() -> None:
    chat = Chat(RUN, RUN, RUN)
    chat.say("Go.")
    chat.answer()
    chat.answer()
    chat.script = script(RUN)
    assert chat.answer().stop_reason == "end_turn"


def test_a_step_that_needs_a_blob_takes_a_screenshot_then_waits_then_continues() -> None:
    chat = Chat(HIT, {"say": "Hit."})
    assert calls(chat.say("Go.")) == [("screenshot", {})]
    assert calls(chat.answer(picture=BLANK)) == [("wait", {"duration": 1})]
    assert calls(chat.answer(picture=SHOWN)) == [("left_click", {"coordinate": [11, 21]})]
    assert words(chat.answer()) == "Hit."


def test_a_blob_must_have_the_pixels_it_needs() -> None:
    chat = Chat({**HIT, "needs": {"blob": "#e6194b", "at_least": 10, "tries": 5}})
    chat.say("Go.")
    assert calls(chat.answer(picture=SHOWN)) == [("wait", {"duration": 1})]
    larger = encoded(screen(((10, 20, 14, 24), RED), size=(40, 30)))
    assert calls(chat.answer(picture=larger))[0][0] == "left_click"


def test_what_never_appears_ends_in_a_report_if_there_is_one() -> None:
    chat = Chat(HIT, tools=("report",))
    chat.say("Go.")
    chat.answer(picture=BLANK)
    ((name, report),) = calls(chat.answer())
    assert (name, report["outcome"]) == ("report", "blocked")


def test_a_blob_that_never_appears_ends_with_text_without_the_report_tool() -> None:
    chat = Chat(HIT)
    chat.say("Go.")
    chat.answer(picture=BLANK)
    turn = chat.answer()
    assert turn.stop_reason == "end_turn"
    assert "did not appear" in words(turn)


def test_a_step_may_go_on_without_what_it_needs() -> None:
    chat = Chat({"say": "Anyway.", "needs": {"changed": 0.5, "tries": 1, "otherwise": "go_on"}})
    chat.say("Go.")
    assert words(chat.answer(picture=BLANK)) == "Anyway."


def test_a_change_is_judged_against_the_oldest_picture_at_hand() -> None:
    chat = Chat({"say": "New.", "needs": {"changed": 0.005, "tries": 9}})
    chat.say("Go.")
    chat.answer(picture=BLANK)
    assert words(chat.answer(picture=SHOWN)) == "New."


def test_needs_without_the_computer_tool_are_hopeless() -> None:
    assert "computer tool" in words(Chat(HIT, computer=False).say("Go."))


def test_a_point_without_its_blob_ends_the_turn() -> None:
    click = {"calls": [{"computer.left_click": {"coordinate": {"blob": "#e6194b"}}}]}
    assert "no blob" in words(Chat(click).say("Go."))
    chat = Chat(RUN, click)
    chat.say("Go.")
    assert "no blob" in words(chat.answer(picture=BLANK))


def test_a_step_is_repeated_while_its_result_has_the_key() -> None:
    wait = {"calls": [{"wait_agent": {"chat_id": "{result:chat_id}"}}], "again_while": "timed_out"}
    chat = Chat({"calls": [{"spawn": {}}]}, wait, {"say": "It says {result:report}"})
    chat.say("Go.")
    assert calls(chat.answer({"chat_id": "k-1"})) == [("wait_agent", {"chat_id": "k-1"})]
    again = chat.answer({"timed_out": True, "chat_id": "k-1"})
    assert calls(again) == [("wait_agent", {"chat_id": "k-1"})]
    assert words(chat.answer({"report": "fine"})) == "It says fine"


def test_values_keep_their_type_when_they_are_all_of_a_text() -> None:
    chat = Chat(
        RUN,
        {"calls": [{"f": {"n": "{result:a.1.b}", "s": "n={result:a.1.b}", "k": [1, True]}}]},
    )
    chat.say("Go.")
    turn = chat.answer({"a": [{}, {"b": 3}]})
    assert calls(turn) == [("f", {"n": 3, "s": "n=3", "k": [1, True]})]


def test_calls_are_counted() -> None:
    chat = Chat(RUN, {"calls": [{"f": {"n": "{calls}"}}]})
    chat.say("Go.")
    assert calls(chat.answer()) == [("f", {"n": 1})]


def test_the_newest_result_that_has_the_path_counts() -> None:
    chat = Chat(RUN, RUN, {"say": "{result:x}"})
    chat.say("Go.")
    chat.answer({"x": "old"})
    assert words(chat.answer("not json")) == "old"


def test_results_in_blocks_and_lists_are_read_too() -> None:
    chat = Chat(RUN, {"say": "{result:x}"})
    chat.say("Go.")
    call_id = chat.messages[-1]["content"][0]["id"]
    blocks = [
        {"type": "text", "text": '{"x": 1}'},
        {"type": "text", "text": "[2]"},
        {"type": "image"},
    ]
    result = {"type": "tool_result", "tool_use_id": call_id, "content": blocks}
    assert words(chat.send([result])) == "1"


@pytest.mark.parametrize("path", ["x", "a.9", "a.b", "a.0.c"])
def test_a_path_that_leads_nowhere_ends_the_turn(path: str) -> None:
    chat = Chat(RUN, {"say": f"{{result:{path}}}"})
    chat.say("Go.")
    assert "cannot go on" in words(chat.answer({"a": [{"b": 1}]}))


def test_the_prompt_is_the_newest_text_and_its_address_the_newest_address() -> None:
    chat = Chat(RUN, {"say": "{prompt} {prompt:url}"})
    chat.say("context", "Open <http://127.0.0.1:8/a?b=1#c>, then (https://x.test/y.html). Bye")
    turn = chat.answer(say="Hurry!")
    assert words(turn) == "Hurry! https://x.test/y.html"


def test_no_address_anywhere_ends_the_turn() -> None:
    assert "prompt:url" in words(Chat({"say": "{prompt:url}"}).say("Nothing here."))
    assert "cannot go on" in words(Chat({"say": "{prompt:mood}"}).say("x"))


def test_texts_are_quoted_for_a_shell_and_cut_to_a_line() -> None:
    chat = Chat({"say": "echo {prompt|line|sh} {prompt|sh} {other} {result}"})
    chat.script = script({"say": "echo {prompt|line|sh} {prompt|sh} {other}"})
    assert words(chat.say("it's\nso")) == "echo 'it'\"'\"'s' 'it'\"'\"'s\nso' {other}"


def test_stop_reasons_and_faults_are_handed_on() -> None:
    chat = Chat({"say": "No.", "stop_reason": "refusal", "fault": {"kind": "cut"}})
    turn = chat.say("Go.")
    assert turn.stop_reason == "refusal"
    assert turn.fault is not None
    assert turn.fault.kind == "cut"


def test_a_step_that_a_person_came_before_is_played_again() -> None:
    chat = Chat(RUN, {"say": "Done."})
    chat.say("go")
    assert calls(chat.answer("Not done: Ann was in control.")) == [("execute", {"command": "ls"})]
    assert words(chat.answer("{}")) == "Done."


BACKGROUND = {"calls": [{"execute": {"command": "browser", "run_in_background": True}}]}
FAILED = {"backgrounded": True, "success": False, "error": "the browser exited at once"}


def test_the_screen_is_not_waited_for_after_a_background_command_that_failed() -> None:
    chat = Chat(BACKGROUND, HIT)
    chat.say("Go.")
    turn = chat.answer(FAILED)
    assert (calls(turn), turn.stop_reason) == ([], "end_turn")
    assert words(turn) == "The script cannot go on: the browser exited at once."


def test_the_screen_is_waited_for_after_one_that_runs() -> None:
    chat = Chat(BACKGROUND, HIT)
    chat.say("Go.")
    assert calls(chat.answer({"backgrounded": True, "success": True})) == [("screenshot", {})]


def test_an_earlier_failure_does_not_end_a_later_wait() -> None:
    chat = Chat(BACKGROUND, RUN, HIT)
    chat.say("Go.")
    chat.answer(FAILED)
    assert calls(chat.answer({"success": False, "exit_code": 1})) == [("screenshot", {})]


def test_a_thinking_block_begins_the_reply_and_has_no_signature_yet() -> None:
    turn = Chat({"think": "Hm.", "say": "Yes."}).say("Go.")
    assert turn.content[0] == {"type": "thinking", "thinking": "Hm.", "signature": ""}
    assert turn.content[1]["text"] == "Yes."


def summarized(chat: Chat, *, on_demand: bool) -> Json:
    """The summary of a conversation so far."""
    asked = {"role": "user", "content": [{"type": "text", "text": SUMMARY_REQUEST}]}
    messages = tuple(chat.messages) if on_demand else (*chat.messages, asked)
    request = Request("test", True, messages, chat.tools, True, (), summarize=on_demand)
    turn = play(chat.script, request, lambda data: pixels(data, decoded_here), "s")
    (block,) = turn.content
    assert turn.stop_reason == ("compaction" if on_demand else "end_turn")
    return block


@pytest.mark.parametrize("on_demand", [True, False])
def test_a_script_goes_on_from_a_summary_alone(on_demand: bool) -> None:
    chat = Chat(RUN, {"calls": [{"execute": {"command": "{prompt}"}}]}, {"say": "Done: {prompt}."})
    chat.say("it")
    for _ in range(2):
        block = summarized(chat, on_demand=on_demand)
        chat.messages = [{"role": "assistant" if on_demand else "user", "content": [block]}]
    assert calls(chat.send([{"type": "tool_result"}])) == [("execute", {"command": "it"})]
    assert words(chat.answer()) == "Done: it."


def test_a_fault_of_summaries_does_not_meet_the_step() -> None:
    chat = Chat({**RUN, "fault": {"kind": "empty_summary"}}, {"say": "Done."})
    assert chat.say("it").fault is None
    chat = Chat({**RUN, "fault": {"kind": "empty_summary"}}, {"say": "Done."})
    asked = ({"role": "user", "content": [{"type": "text", "text": "it"}]},)
    for on_demand, messages in ((True, asked), (False, (*asked, *asked_for_summary()))):
        request = Request("test", True, messages, chat.tools, True, (), summarize=on_demand)
        turn = play(chat.script, request, lambda data: pixels(data, decoded_here), "s")
        assert turn.fault is not None


def test_a_summary_can_lose_its_text() -> None:
    block = {"type": "compaction", "content": "All of it.", "signature": ""}
    turn = without_summary(PlayedTurn((block,), "compaction", 1))
    assert turn == PlayedTurn(({**block, "content": ""},), "compaction", 1)
    said = {"type": "text", "text": "All of it."}
    assert without_summary(PlayedTurn((said,), "end_turn", 1)).content == ()


def asked_for_summary() -> tuple[Json, ...]:
    return ({"role": "user", "content": [{"type": "text", "text": SUMMARY_REQUEST}]},)


def test_a_summary_before_the_first_call_leaves_the_script_at_its_begin() -> None:
    chat = Chat(RUN, {"say": "Done."})
    chat.messages = [{"role": "user", "content": [{"type": "text", "text": "it"}]}]
    chat.messages = [{"role": "assistant", "content": [summarized(chat, on_demand=True)]}]
    assert calls(chat.say("Go.")) == [("execute", {"command": "ls"})]


def test_safety_checks_are_on_the_computer_calls_of_their_step() -> None:
    both = {"calls": [{"computer.screenshot": {}}, {"execute": {}}], "checks": ["sensitive_domain"]}
    computer, execute = Chat(both).say("Go.").content
    (check,) = computer["checks"]
    assert (check["code"], computer["id"] in check["id"]) == ("sensitive_domain", True)
    assert "checks" not in execute


def test_a_reply_can_be_given_one_id() -> None:
    turn = Chat({"say": "x", "calls": [{"execute": {}}, {"execute": {}}]}).say("Go.")
    text, first, second = with_one_id(turn).content
    assert "id" not in text
    assert first["id"] == second["id"] == turn.content[1]["id"]
    assert with_one_id(Chat({"say": "x"}).say("Go.")).content == ({"type": "text", "text": "x"},)
