from dataclasses import replace

import pytest

from deskhand.tools.agents.checkpoints.policy import (
    BESIDE_OWN,
    BESIDE_PROVIDER,
    KeepLimits,
    RequestSize,
    due,
    estimated_tokens,
    first_kept,
    keep_limits,
    without_calls,
)
from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.conversation.conversation import (
    Compaction,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

OPUS = model_facts("claude-opus-5-5")
SHOT = Image("f", "image/png", 1280, 720)
MB = 1024 * 1024


def reply(calls: int = 1, pictures: int = 1) -> list[Message]:
    made = tuple(ToolCall(f"c{n}", "key", {"text": "a"}, "computer") for n in range(calls))
    results = tuple(
        ToolResult(call.id, (Text("ok"), *[SHOT] * (pictures if call is made[-1] else 0)))
        for call in made
    )
    return [Message("assistant", made), Message("user", results)]


def history(*replies: list[Message]) -> list[Message]:
    return [Message("user", (Text("Go."),)), *(m for one in replies for m in one)]


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        (RequestSize(39, 699_999, 20 * MB - 1), None),
        (RequestSize(40, 0), "40 pictures"),
        (RequestSize(0, 700_000), "700,000 of 1,000,000 tokens"),
        (RequestSize(0, 0, 20 * MB), "a request of 20 MB"),
    ],
)
def test_a_checkpoint_is_due_at_the_first_of_three_limits(
    size: RequestSize, reason: str | None
) -> None:
    assert due(size, OPUS) == reason


def test_limits_of_a_provider_that_are_lower_come_first() -> None:
    facts = replace(OPUS, pictures=20, largest_request=10 * MB, window_tokens=None)
    assert due(RequestSize(14, 0), facts) == "14 pictures"
    assert due(RequestSize(0, 10**9, 7 * MB), facts) == "a request of 7 MB"
    assert due(RequestSize(13, 10**9, 6 * MB), facts) is None


def test_a_small_window_leaves_lower_limits() -> None:
    assert keep_limits(OPUS, own=False) == BESIDE_PROVIDER
    assert keep_limits(replace(OPUS, window_tokens=None), own=True) == BESIDE_OWN
    assert keep_limits(replace(OPUS, window_tokens=20_000), own=True).tokens == 7_000
    gpt = model_facts("gpt-6.2-sol")
    assert keep_limits(gpt, own=False).steps == 0
    assert keep_limits(gpt, own=True).steps == BESIDE_OWN.steps
    assert KeepLimits(10, 8, 6).scaled(0.25) == KeepLimits(2, 2, 1)


def test_the_newest_replies_are_kept_from_a_reply_on() -> None:
    messages = history(*[reply() for _ in range(6)])
    assert first_kept(messages, KeepLimits(3, 99, 99_999), calls=False) == 7
    assert first_kept(messages, KeepLimits(3, 2, 99_999), calls=False) == 9
    assert first_kept(messages, KeepLimits(3, 99, 1_300), calls=False) == 11
    assert first_kept(messages, KeepLimits(3, 0, 99_999), calls=False) == len(messages)


def test_steps_are_calls_where_they_are_counted() -> None:
    messages = history(*[reply(4) for _ in range(6)])
    assert first_kept(messages, KeepLimits(10, 99, 99_999), calls=True) == 7
    text = [Message("assistant", (Text("On."),)), Message("user", (Text("Go on."),))]
    assert first_kept(history(*[text] * 6), KeepLimits(2, 99, 99_999), calls=True) == 9


def test_a_second_part_of_a_reply_is_not_cut_off_from_the_first() -> None:
    parts = [*reply(), Message("assistant", (Text("a"),)), Message("assistant", (Text("b"),))]
    messages = history(reply(), parts)
    assert first_kept(messages, KeepLimits(1, 99, 99_999), calls=False) == len(messages)
    assert first_kept(messages, KeepLimits(2, 99, 99_999), calls=False) == 5


def test_a_history_that_fits_is_summarized_as_a_whole() -> None:
    messages = history(reply(), reply())
    assert first_kept(messages, KeepLimits(3, 99, 99_999), calls=False) == len(messages)
    assert first_kept(messages, KeepLimits(0, 99, 99_999), calls=True) == len(messages)
    assert first_kept([], KeepLimits(3, 99, 99_999), calls=False) == 0


def browsing() -> list[Message]:
    call = ToolCall("b", "click", {}, "browser")
    return [Message("assistant", (call,)), Message("user", (ToolResult("b", (Text("ok"),)),))]


def test_calls_of_a_toolset_that_is_withdrawn_are_not_kept() -> None:
    messages = history(reply(), browsing(), reply(), reply())
    assert without_calls(messages, 1, "browser") == 5
    assert without_calls(messages, 7, "browser") == 7
    assert without_calls(history(reply(), browsing()), 1, "browser") == 5
    # A second part of a reply does not follow a message of the user.
    second = [Message("assistant", (Text("Go on"),)), *reply()]
    assert without_calls(history(browsing(), second), 1, "browser") == 3
    late = history(browsing()[:1], second)
    assert without_calls(late, 1, "browser") == len(late)


def test_tokens_are_estimated_from_texts_and_pictures() -> None:
    blocks = (
        Text("x" * 40),
        SHOT,
        ToolCall("c", "type", {"text": "y" * 28}),
        ToolResult("c", (Text("z" * 8), SHOT)),
        Thinking({"thinking": "t" * 16}),
        Compaction({"content": "s" * 20}),
    )
    assert estimated_tokens([Message("user", blocks)]) == 10 + 1228 + 10 + 2 + 1228 + 4 + 5
    assert estimated_tokens([Message("user", (Thinking({"data": "x"}),))]) == 0
