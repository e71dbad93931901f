import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.agents.loop import history
from deskhand.tools.agents.loop.prepared_history import PreparedHistory, prepared
from deskhand.tools.conversation.conversation import (
    Block,
    Image,
    Message,
    Text,
    ToolCall,
    ToolResult,
)


def shot(number: int) -> Image:
    return Image(f"f{number}", "image/png", 1280, 720)


def call(number: int) -> ToolCall:
    return ToolCall(f"c{number}", "screenshot", {}, "computer")


def result(number: int, *content: Text | Image) -> ToolResult:
    return ToolResult(f"c{number}", content or (shot(number),), toolset="computer")


def steps(count: int) -> tuple[Message, ...]:
    messages = [Message("user", (Text("Look."),))]
    for number in range(count):
        messages.append(Message("assistant", (call(number),)))
        messages.append(Message("user", (result(number),)))
    return tuple(messages)


def shown(messages: tuple[Message, ...]) -> list[str]:
    blocks = [
        b for m in messages for r in m.content if isinstance(r, ToolResult) for b in r.content
    ]
    return [b.file_id if isinstance(b, Image) else b.text for b in blocks]


def test_few_pictures_all_stay() -> None:
    assert prepared(steps(5), keep=3) == steps(5)


def test_old_pictures_become_a_line_with_their_file_id() -> None:
    pictures = shown(prepared(steps(11), keep=3))
    assert pictures[8:] == ["f8", "f9", "f10"]
    assert all(f"f{n}" in pictures[n] and pictures[n] != f"f{n}" for n in range(8))


def test_the_beginning_of_the_prompt_stays_the_same_within_a_batch() -> None:
    first, last = (prepared(steps(count), keep=3) for count in (11, 18))
    assert last[: len(steps(11))] == first


def settled(messages: tuple[Message, ...]) -> tuple[int, ...]:
    growing = PreparedHistory()
    growing.prepared(messages, keep=3)
    return growing.settled


@pytest.mark.parametrize(
    ("count", "expected"),
    [(10, ()), (11, (16,)), (18, (16,)), (19, (16, 32)), (27, (32, 48))],
)
def test_parts_are_settled_up_to_the_result_before_a_kept_picture(
    count: int, expected: tuple[int, ...]
) -> None:
    assert settled(steps(count)) == expected
    sent = prepared(steps(count), keep=3)
    following = prepared(steps(count + 8), keep=3)
    for end in expected:
        assert sent[: end + 1] == following[: end + 1]


def test_a_message_with_a_kept_picture_is_not_settled() -> None:
    pictures = Message("user", tuple(shot(n) for n in range(11)))
    assert settled((pictures,)) == ()
    answers = Message("user", (result(0), *(shot(n) for n in range(10))))
    assert settled((*steps(0), Message("assistant", (call(0),)), answers)) == (0,)


def test_an_append_only_history_keeps_every_picture() -> None:
    assert prepared(steps(30), keep=None) == steps(30)


def test_pictures_of_people_are_left_out_too() -> None:
    asked = Message("user", (shot(9), Text("What is this?")))
    sent = prepared((asked, *steps(3)), keep=3, batch=1)
    assert isinstance(sent[0].content[0], Text)
    assert sent[0].content[1] == Text("What is this?")
    assert shown(sent) == ["f0", "f1", "f2"]


@given(st.integers(0, 40), st.integers(1, 5), st.integers(1, 5))
def test_the_number_of_pictures_stays_within_keep_and_batch(
    count: int, keep: int, batch: int
) -> None:
    sent = shown(prepared(steps(count), keep=keep, batch=batch))
    kept = [text for text in sent if text.startswith("f")]
    assert min(count, keep) <= len(kept) < keep + batch
    assert kept == [f"f{n}" for n in range(count)][count - len(kept) :]


def test_an_open_call_at_the_end_gets_a_result() -> None:
    messages = (*steps(0), Message("assistant", (call(1), call(2))))
    (*_, last) = prepared(messages, keep=None)
    assert last == Message("user", (history.interrupted(call(1)), history.interrupted(call(2))))


def test_a_missing_result_is_inserted_before_later_messages() -> None:
    messages = (
        *steps(0),
        Message("assistant", (call(1), call(2))),
        Message("user", (Text("Stop!"), result(2))),
    )
    (*_, last) = prepared(messages, keep=None)
    assert last.content == (history.interrupted(call(1)), result(2), Text("Stop!"))


def test_results_in_two_messages_are_brought_together_in_order() -> None:
    messages = (
        *steps(0),
        Message("assistant", (call(1), call(2))),
        Message("user", (result(2),)),
        Message("user", (result(1), Text("Go on."))),
    )
    (*_, last) = prepared(messages, keep=None)
    assert last.content == (result(1), result(2), Text("Go on."))


def test_results_without_a_call_are_dropped() -> None:
    messages = (Message("user", (Text("Hi."), result(7))), Message("assistant", (Text("Hello."),)))
    assert prepared(messages, keep=None)[0].content == (Text("Hi."),)
    assert prepared((Message("user", (result(7),)),), keep=None) == ()


def test_open_calls_are_those_of_the_last_reply_without_a_result() -> None:
    asked = Message("assistant", (call(8), call(9)))
    assert history.open_calls((*steps(2), asked)) == (call(8), call(9))
    assert history.open_calls((*steps(2), asked, Message("user", (result(8),)))) == (call(9),)
    assert history.open_calls(steps(2)) == ()
    assert history.open_calls(()) == ()


blocks: st.SearchStrategy[Block] = st.one_of(
    st.integers(0, 5).map(call), st.integers(0, 5).map(result), st.just(Text("words"))
)
messages = st.lists(
    st.builds(
        Message,
        st.sampled_from(["user", "assistant"]),
        st.lists(blocks, max_size=4).map(tuple),
    )
)


@given(messages)
def test_whatever_was_written_down_every_call_is_answered_right_after_it(
    messages: list[Message],
) -> None:
    cleaned = [
        Message(
            m.role,
            tuple(b for b in m.content if isinstance(b, ToolCall) == (m.role == "assistant")),
        )
        for m in messages
    ]
    closed = prepared(cleaned, keep=None)
    for before, after in zip(closed, (*closed, Message("user", ()))[1:], strict=True):
        calls = [b.id for b in before.content if isinstance(b, ToolCall)]
        answers = [b.call_id for b in after.content if isinstance(b, ToolResult)]
        if before.role == "assistant":
            assert answers == calls
        assert before.content


def test_the_middle_of_a_result_that_is_too_long_is_left_out() -> None:
    messages = (
        Message("user", (Text("y" * 40),)),
        Message("assistant", (call(0),)),
        Message("user", (result(0, Text("a" * 20 + "z" * 20), Text("short"), shot(0)),)),
    )
    first, _, last = (history.short_message(one, 30) for one in messages)
    assert first == messages[0]
    (given,) = last.content
    assert isinstance(given, ToolResult)
    expected = Text("a" * 20 + "\n[… 10 characters left out here …]\n" + "z" * 10)
    assert given.content == (expected, Text("short"), shot(0))
