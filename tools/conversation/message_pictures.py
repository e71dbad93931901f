"""Pictures of a message: their number, and lines of text in their place. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from .conversation import Block, Image, Message, Text, ToolResult


def picture_count(message: Message) -> int:
    """Return the number of pictures in a message."""
    return sum(isinstance(block, Image) for block in _flat(message.content))


def without_first_pictures(message: Message, count: int) -> Message:
    """Replace the first ``count`` pictures of a message by a line of text each."""
    if count == 0:
        return message
    seen = 0

    def shown(blocks: Iterable[Text | Image]) -> tuple[Text | Image, ...]:
        nonlocal seen
        kept: list[Text | Image] = []
        for block in blocks:
            seen += isinstance(block, Image)
            old = isinstance(block, Image) and seen <= count
            kept.append(_line(block) if isinstance(block, Image) and old else block)
        return tuple(kept)

    def trimmed(block: Block) -> Block:
        if isinstance(block, ToolResult):
            return replace(block, content=shown(block.content))
        return shown((block,))[0] if isinstance(block, Image) else block

    return Message(message.role, tuple(trimmed(b) for b in message.content))


def _line(picture: Image) -> Text:
    size = f"{picture.width}x{picture.height}"
    return Text(f"[An earlier picture, {size}, left out here: file {picture.file_id}]")


def _flat(blocks: Iterable[Block]) -> Iterable[Block]:
    for block in blocks:
        yield from block.content if isinstance(block, ToolResult) else (block,)
