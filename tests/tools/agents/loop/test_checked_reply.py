from deskhand.tools.agents.loop.checked_reply import checked
from deskhand.tools.agents.providers.port import ModelReply, Usage
from deskhand.tools.conversation.conversation import ReplyBlock, Text, ToolCall

CLICK = ToolCall("a", "left_click", {}, "computer")
RUN = ToolCall("b", "execute", {})


def reply(*content: ReplyBlock, stop_reason: str = "tool_use") -> ModelReply:
    return ModelReply(content, stop_reason, Usage())


def test_calls_of_one_id_are_reduced_to_the_first() -> None:
    found = checked(reply(Text("x"), CLICK, ToolCall("a", "type", {}, "computer")), computer=True)
    assert found.reply.content == (Text("x"), CLICK)
    assert found.problems == (
        "The call of type was not run: it had the id of another call of the same reply.",
    )


def test_a_call_of_a_toolset_that_was_not_offered_is_removed() -> None:
    found = checked(reply(CLICK, RUN), computer=False)
    assert found.reply.content == (RUN,)
    assert found.problems == ("The call of left_click was not run: there is no computer here.",)


def test_the_last_call_of_a_reply_that_was_cut_off_is_dropped_without_a_word() -> None:
    assert checked(reply(CLICK, RUN, stop_reason="max_tokens"), computer=True).problems == ()
    cut = checked(reply(CLICK, RUN, stop_reason="max_tokens"), computer=True).reply
    assert cut.content == (CLICK,)
    for content in ((), (Text("x"),)):
        whole = reply(*content, stop_reason="max_tokens")
        assert checked(whole, computer=True).reply == whole


def test_a_sound_reply_stays_as_it_is() -> None:
    assert checked(reply(CLICK, RUN), computer=True).reply == reply(CLICK, RUN)


def test_a_call_of_the_browser_function_becomes_one_of_its_toolset() -> None:
    call = ToolCall("c", "browser", {"action": "find", "query": "x"})
    member = ToolCall("c", "find", {"query": "x"}, "browser")
    found = checked(reply(call), computer=True, browser=True)
    assert (found.reply.content, found.problems) == ((member,), ())
    assert checked(reply(call), computer=True).reply.content == (call,)
    removed = checked(reply(member), computer=True)
    assert removed.problems == ("The call of find was not run: there is no browser here.",)
