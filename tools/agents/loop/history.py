"""Preparation of a transcript for a provider: every call answered, results of a usable length.

Providers refuse a conversation in which a call has no result, a result has no call, or two messages
of one role follow each other. A transcript may have all of these after a crash or an interruption.
The stored transcript is never changed: the functions here return a corrected copy for each request.

A copy must begin with the copy for the request before it, as newer models refuse a history that was
changed. So everything here depends on a message alone, except leaving out old pictures, which is
for models that accept it.
"""

from collections.abc import Iterable
from dataclasses import replace

from deskhand.tools.conversation.conversation import (
    Block,
    Image,
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


def prepared(messages: Iterable[Message], *, keep: int | None) -> tuple[Message, ...]:
    """Return what to send: a valid conversation, and no result longer than a model can use.

    It has all pictures, or ``keep`` to ``keep + BATCH - 1`` of them; see :func:`settled`.
    """
    valid = shortened(closed(messages))
    # Pictures are counted last, so that those of dropped results do not take the place of others.
    return valid if keep is None else without_old_pictures(valid, keep)


def open_calls(messages: Iterable[Message]) -> tuple[ToolCall, ...]:
    """Return the calls of the last assistant message that have no result."""
    calls: tuple[ToolCall, ...] = ()
    for message in messages:
        if message.role == "assistant":
            # Earlier calls cannot be open: their results were stored before the next request.
            calls = _calls(message)
        answered = {b.call_id for b in message.content if isinstance(b, ToolResult)}
        calls = tuple(call for call in calls if call.id not in answered)
    return calls


def interrupted(call: ToolCall, why: str = INTERRUPTED) -> ToolResult:
    """Return the error result for a call that has none."""
    return ToolResult(call.id, (Text(why),), is_error=True, toolset=call.toolset)


def closed(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Put the result of every call right after it, in order, and drop results without a call.

    Consecutive messages of one role become one, as providers require.
    """
    merged = _merged(messages)
    out: list[Message] = []
    calls: tuple[ToolCall, ...] = ()
    for message in merged:
        if message.role == "user":
            out.append(_answering(message, calls))
            calls = ()
        else:
            out.append(message)
            calls = _calls(message)
    if calls:
        out.append(Message("user", tuple(interrupted(call) for call in calls)))
    return tuple(message for message in out if message.content)


def shortened(messages: Iterable[Message], most: int = LONGEST_RESULT) -> tuple[Message, ...]:
    """Leave out the middle of each text of a result that is longer than ``most`` characters."""

    def short(block: Block) -> Block:
        if not isinstance(block, ToolResult):
            return block
        content = tuple(_short(b, most) if isinstance(b, Text) else b for b in block.content)
        return replace(block, content=content)

    return tuple(Message(m.role, tuple(short(b) for b in m.content)) for m in messages)


def _short(text: Text, most: int) -> Text:
    over = len(text.text) - most
    if over <= 0:
        return text
    # The end stays too: there commands report their errors.
    head = most * 2 // 3
    tail = text.text[len(text.text) - (most - head) :]
    return Text(f"{text.text[:head]}\n[… {over} characters left out here …]\n{tail}")


def without_old_pictures(
    messages: Iterable[Message], keep: int = KEPT_PICTURES, batch: int = BATCH
) -> tuple[Message, ...]:
    """Replace all but the newest pictures by a line of text."""
    messages = tuple(messages)
    left_out = _left_out(messages, keep, batch)
    seen = 0

    def shown(blocks: Iterable[Text | Image]) -> tuple[Text | Image, ...]:
        nonlocal seen
        kept: list[Text | Image] = []
        for block in blocks:
            seen += isinstance(block, Image)
            old = isinstance(block, Image) and seen <= left_out
            kept.append(_line(block) if isinstance(block, Image) and old else block)
        return tuple(kept)

    def trimmed(block: Block) -> Block:
        if isinstance(block, ToolResult):
            content = shown(block.content)
            return ToolResult(block.call_id, content, block.is_error, block.toolset)
        return shown((block,))[0] if isinstance(block, Image) else block

    return tuple(Message(m.role, tuple(trimmed(b) for b in m.content)) for m in messages)


def settled(
    messages: Iterable[Message], keep: int = KEPT_PICTURES, batch: int = BATCH
) -> tuple[int, ...]:
    """Return the messages up to which the next batches change nothing, the newest at the end.

    Each is the last message of the user before the oldest picture that was kept at a time.
    """
    messages = tuple(messages)
    left_out = _left_out(messages, keep, batch)
    wanted = [n for n in (left_out - batch * back for back in range(SETTLED)) if n > 0]
    ends: dict[int, int] = {}
    seen, end = 0, None
    for index, message in enumerate(messages):
        seen += sum(isinstance(b, Image) for b in _flat(message.content))
        for number in wanted:
            if seen > number and number not in ends and end is not None:
                ends[number] = end
        end = index if message.role == "user" else end
    return tuple(sorted(set(ends.values())))


def _left_out(messages: tuple[Message, ...], keep: int, batch: int) -> int:
    total = sum(isinstance(b, Image) for m in messages for b in _flat(m.content))
    # Rounded down to a whole batch, so that the left-out pictures change only with every batch.
    return max(0, total - keep) // batch * batch


def _line(picture: Image) -> Text:
    size = f"{picture.width}x{picture.height}"
    return Text(f"[An earlier picture, {size}, left out here: file {picture.file_id}]")


def _flat(blocks: Iterable[Block]) -> Iterable[Block]:
    for block in blocks:
        yield from block.content if isinstance(block, ToolResult) else (block,)


def _calls(message: Message) -> tuple[ToolCall, ...]:
    return tuple(b for b in message.content if isinstance(b, ToolCall))


def _merged(messages: Iterable[Message]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            merged[-1] = Message(message.role, merged[-1].content + message.content)
        else:
            merged.append(message)
    return merged


def _answering(message: Message, calls: tuple[ToolCall, ...]) -> Message:
    given = {b.call_id: b for b in message.content if isinstance(b, ToolResult)}
    # The results precede the texts in the message: the protocol requires them first.
    results = tuple(given.get(call.id) or interrupted(call) for call in calls)
    others = tuple(b for b in message.content if not isinstance(b, ToolResult))
    return Message("user", (*results, *others))
