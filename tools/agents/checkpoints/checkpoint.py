"""Checkpoints of a chat: the only places where the history that a model is sent changes. Pure.

Between two checkpoints each request extends the one before it, as newer models refuse thinking
blocks after a changed history, and as providers read only an unchanged beginning from their cache.

    history      m0 m1 m2 ... m60 m61 m62 m63 ... m66 | m67 ...
    checkpoint   [summary of m0 ... m62]  m63 ... m66 | m67 ...
                                     first_kept      end

The stored messages never change. A checkpoint says what is sent in place of those before
``first_kept``, and what is left out of those from there to ``end``, so that every process sends the
same. Messages after ``end`` are sent as they are.

The summary is the provider's own (a :class:`~deskhand.tools.conversation.conversation.Compaction`),
after which the kept messages stay as they were, thinking blocks included; or one that we asked for.
No thinking block is valid after that, so all up to ``end`` are omitted, and of the pictures only
the newest stay. The tools of the chat may change at a checkpoint too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from deskhand.tools.conversation.conversation import (
    Message,
    Thinking,
    message_from_json,
    message_to_json,
)
from deskhand.tools.conversation.message_pictures import picture_count, without_first_pictures
from deskhand.tools.kit.support.spec import ToolSpec

from .own_summary import summary_message

Json = dict[str, Any]


@dataclass(frozen=True)
class Checkpoint:
    """What is sent in place of the messages of a history before ``end``."""

    summary: tuple[Message, ...]
    """Messages in place of those before ``first_kept``."""
    first_kept: int
    end: int
    thinking_from: int = 0
    """Thinking blocks of messages before this one are omitted."""
    pictures_left_out: int = 0
    """Pictures from ``first_kept`` on that are left out."""
    tools: tuple[ToolSpec, ...] | None = None
    """The tools from here on; ``None`` if they are those of the chat's begin."""
    provider: str = ""
    """The provider that alone can read the summary; empty for our own."""
    text: str = ""
    """The summary in words, empty if the provider does not show it."""

    def readable_by(self, provider: str) -> "Checkpoint":
        """Return this checkpoint as another provider can read it."""
        if self.provider in ("", provider):
            return self
        return replace(self, summary=(summary_message(self.text),), thinking_from=self.end)

    def kept(self, history: Sequence[Message]) -> tuple[Message, ...]:
        """Return what is sent of a history up to ``end``, with the summary."""
        left = self.pictures_left_out
        found = list(self.summary)
        for index in range(self.first_kept, self.end):
            message = history[index]
            if index < self.thinking_from:
                content = tuple(b for b in message.content if not isinstance(b, Thinking))
                message = Message(message.role, content)
            pictures = picture_count(message)
            if left:
                message = without_first_pictures(message, min(left, pictures))
                left -= min(left, pictures)
            found.append(message)
        return tuple(found)

    def sent(self, history: Sequence[Message]) -> tuple[Message, ...]:
        """Return what is sent of a whole history."""
        return (*self.kept(history), *history[self.end :])

    def to_json(self) -> Json:
        """Return a JSON form that :func:`checkpoint_from_json` reads back."""
        tools = None
        if self.tools is not None:
            tools = [
                {"name": one.name, "description": one.description, "schema": one.schema}
                for one in self.tools
            ]
        return {
            "summary": [message_to_json(message) for message in self.summary],
            "first_kept": self.first_kept,
            "end": self.end,
            "thinking_from": self.thinking_from,
            "pictures_left_out": self.pictures_left_out,
            "tools": tools,
            "provider": self.provider,
            "text": self.text,
        }


def checkpoint_from_json(data: Json) -> Checkpoint:
    """Read what :meth:`Checkpoint.to_json` wrote."""
    tools = data["tools"]
    return Checkpoint(
        tuple(map(message_from_json, data["summary"])),
        data["first_kept"],
        data["end"],
        data["thinking_from"],
        data["pictures_left_out"],
        None
        if tools is None
        else tuple(ToolSpec(one["name"], one["description"], one["schema"]) for one in tools),
        data["provider"],
        data["text"],
    )


class SentHistory:
    """What is sent of a growing history; the same objects again for what did not change."""

    def __init__(self, provider: str = "") -> None:
        """Read summaries for this provider."""
        self._provider = provider
        self._checkpoint: Checkpoint | None = None
        self._kept: tuple[Message, ...] = ()

    def of(
        self, history: tuple[Message, ...], checkpoint: Checkpoint | None
    ) -> tuple[Message, ...]:
        """Return what is sent of a history after ``checkpoint``."""
        if checkpoint is None:
            return history
        if checkpoint is not self._checkpoint:
            self._checkpoint = checkpoint
            self._kept = checkpoint.readable_by(self._provider).kept(history)
        return (*self._kept, *history[checkpoint.end :])
