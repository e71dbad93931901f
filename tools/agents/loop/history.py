"""Preparation of a transcript for a provider: every call answered, results of a usable length.

Providers refuse a conversation in which a call has no result, a result has no call, or two messages
of one role follow each other. A transcript may have all of these after a crash or an interruption.
The stored transcript is never changed: the functions here return a corrected copy for each request.

A copy must begin with the copy for the request before it, as newer models refuse a history that was
changed. So everything here depends on a message and the one before it, except leaving out old
pictures, which is for models that accept it. :mod:`.prepared_history` therefore prepares each
message once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from deskhand.tools.conversation.conversation import (
    Block,
    Message,
    Text,
    ToolCall,
    ToolResult,
)

KEPT_PICTURES = 3
"""Newest pictures that a request contains: a model compares the screen before and after."""

BATCH = 8
"""Number of pictures that are left out at a time. The part of the request before the newest
pictures then stays the same for several requests, so that the provider's prompt cache has hits."""

SETTLED = 2
"""Ends of settled parts that are returned: the newest has no entry in the cache yet."""

LONGEST_RESULT = 60_000
"""Characters of one text in a tool's result, some 15,000 tokens."""

INTERRUPTED = "Interrupted before it gave a result. It may or may not have taken effect."


def open_calls(messages: Iterable[Message]) -> tuple[ToolCall, ...]:
    """Return the calls of the last assistant message that have no result."""
    calls: tuple[ToolCall, ...] = ()
    for message in messages:
        if message.role == "assistant":
            # Earlier calls cannot be open: their results were stored before the next request.
            calls = calls_of(message)
        answered = {b.call_id for b in message.content if isinstance(b, ToolResult)}
        calls = tuple(call for call in calls if call.id not in answered)
    return calls


def interrupted(call: ToolCall, why: str = INTERRUPTED) -> ToolResult:
    """Return the error result for a call that has none."""
    return ToolResult(call.id, (Text(why),), is_error=True, toolset=call.toolset)


def short_message(message: Message, most: int = LONGEST_RESULT) -> Message:
    """Leave out the middle of each text of a result that is longer than ``most`` characters."""

    def short(block: Block) -> Block:
        if not isinstance(block, ToolResult):
            return block
        content = tuple(_short(b, most) if isinstance(b, Text) else b for b in block.content)
        return replace(block, content=content)

    return Message(message.role, tuple(short(b) for b in message.content))


def _short(text: Text, most: int) -> Text:
    over = len(text.text) - most
    if over <= 0:
        return text
    # The end stays too: there commands report their errors.
    head = most * 2 // 3
    tail = text.text[len(text.text) - (most - head) :]
    return Text(f"{text.text[:head]}\n[… {over} characters left out here …]\n{tail}")


def left_out(counts: Sequence[int], keep: int, batch: int = BATCH) -> list[int]:
    """Return how many pictures to leave out of each message; ``counts`` are those that it has."""
    rest = _left_out(counts, keep, batch)
    found = []
    for count in counts:
        found.append(min(count, rest))
        rest -= found[-1]
    return found


def settled(
    roles: Sequence[str], counts: Sequence[int], keep: int = KEPT_PICTURES, batch: int = BATCH
) -> tuple[int, ...]:
    """Return the messages up to which the next batches change nothing, the newest at the end.

    Each is the last message of the user before the oldest picture that was kept at a time.
    ``roles`` and ``counts`` are the role and the number of pictures of each message.
    """
    left = _left_out(counts, keep, batch)
    wanted = [n for n in (left - batch * back for back in range(SETTLED)) if n > 0]
    ends: dict[int, int] = {}
    seen, end = 0, None
    for index, (role, count) in enumerate(zip(roles, counts, strict=True)):
        seen += count
        for number in wanted:
            if seen > number and number not in ends and end is not None:
                ends[number] = end
        end = index if role == "user" else end
    return tuple(sorted(set(ends.values())))


def _left_out(counts: Sequence[int], keep: int, batch: int) -> int:
    # Rounded down to a whole batch, so that the left-out pictures change only with every batch.
    return max(0, sum(counts) - keep) // batch * batch


def calls_of(message: Message) -> tuple[ToolCall, ...]:
    """Return the calls that a message makes."""
    return tuple(b for b in message.content if isinstance(b, ToolCall))


def answering(message: Message, calls: tuple[ToolCall, ...]) -> Message:
    """Return a user's message with the result of each call first, and without other results."""
    given = {b.call_id: b for b in message.content if isinstance(b, ToolResult)}
    # The results precede the texts in the message: the protocol requires them first.
    results = tuple(given.get(call.id) or interrupted(call) for call in calls)
    others = tuple(b for b in message.content if not isinstance(b, ToolResult))
    return Message("user", (*results, *others))
