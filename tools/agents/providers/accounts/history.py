"""The messages of a prompt, as far as an adapter has not sent them yet, and their pictures. Pure.

An adapter converts each message once (see :mod:`~deskhand.tools.agents.providers.sent_parts`). Its
parts have an attribute ``pictures``, the number of pictures in them.
"""

import logging
from dataclasses import dataclass
from typing import Any

from deskhand.tools.agents.providers import limits
from deskhand.tools.agents.providers.merged_messages import merged, picture_count, picture_ids
from deskhand.tools.agents.providers.model_table import ModelFacts
from deskhand.tools.agents.providers.port import PictureBytes, Prompt
from deskhand.tools.conversation.conversation import Message

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class History:
    """Messages with alternating roles, and the parts of those that were sent before."""

    messages: list[Message]
    parts: list[Any]
    new: list[Message]
    """The messages after those with parts."""


def history_of(prompt: Prompt, facts: ModelFacts) -> History:
    """Return the history of a prompt.

    Raises:
        LimitReached: If it has more pictures than the model accepts.
    """
    messages = merged(prompt.messages)
    parts = prompt.sent.known(messages)
    new = messages[len(parts) :]
    # Before the pictures are read: hundreds of them are tens of megabytes.
    limits.check_request(facts, sum(part.pictures for part in parts) + picture_count(new), 0)
    return History(messages, parts, new)


async def load_pictures(message: Message, pictures: PictureBytes) -> dict[str, bytes]:
    """Return the pictures of a message by file id, without those that a person has removed."""
    found: dict[str, bytes] = {}
    for file_id in picture_ids((message,)):
        try:
            found[file_id] = await pictures.load(file_id)
        except FileNotFoundError:
            log.warning("the picture %s of the history was removed", file_id)
    return found
