"""Messages as providers take them: alternating roles, and the pictures in them. Pure."""

from collections.abc import Iterable

from deskhand.tools.conversation.conversation import Image, Message, ToolResult


def merged(messages: Iterable[Message]) -> list[Message]:
    """Join consecutive messages of one role, as providers would; others stay the same objects."""
    found: list[Message] = []
    for message in messages:
        if found and found[-1].role == message.role:
            found[-1] = Message(message.role, found[-1].content + message.content)
        else:
            found.append(message)
    return found


def picture_count(messages: Iterable[Message]) -> int:
    """Return the number of pictures in a request with these messages."""
    return sum(1 for message in messages for _ in _pictures(message))


def picture_ids(messages: Iterable[Message]) -> tuple[str, ...]:
    """Return the file ids of all pictures, each once, in order."""
    return tuple(dict.fromkeys(one.file_id for m in messages for one in _pictures(m)))


def _pictures(message: Message) -> Iterable[Image]:
    for block in message.content:
        inner = block.content if isinstance(block, ToolResult) else (block,)
        yield from (one for one in inner if isinstance(one, Image))
