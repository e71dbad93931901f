"""Messages that an adapter has not sent yet, and their pictures."""

import asyncio
from dataclasses import dataclass

import pytest

from deskhand.tools.agents.providers.accounts.history import history_of, load_pictures
from deskhand.tools.agents.providers.errors import LimitReached
from deskhand.tools.agents.providers.model_table import ModelFacts
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import Image, Message, Text
from tests.tools.agents.loop.fakes import MemoryPictures, user

FACTS = ModelFacts(pictures=2)
SEEN = Message("user", (Image("f1", "image/png", 4, 3),))
REPLY = Message("assistant", (Text("I see it."),))


@dataclass(frozen=True)
class Part:
    """What an adapter has made of a message."""

    pictures: int


def prompt(*messages: Message) -> Prompt:
    return Prompt("", messages, (), False, "test")


def test_messages_that_were_sent_before_are_not_new() -> None:
    asked = prompt(SEEN, REPLY, user("Go on."), user("Quickly."))
    asked.sent.add(SEEN, Part(1))
    history = history_of(asked, FACTS)
    assert history.parts == [Part(1)]
    assert history.new == [REPLY, Message("user", (Text("Go on."), Text("Quickly.")))]
    assert history.messages == [SEEN, *history.new]


def test_pictures_of_old_and_new_messages_count() -> None:
    newer = Message("user", (Image("f2", "image/png", 4, 3), Image("f3", "image/png", 4, 3)))
    asked = prompt(SEEN, REPLY, newer)
    asked.sent.add(SEEN, Part(1))
    with pytest.raises(LimitReached, match="2 pictures per request"):
        history_of(asked, FACTS)


def test_a_removed_picture_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    both = Message("user", (*SEEN.content, Image("gone", "image/png", 4, 3)))
    assert asyncio.run(load_pictures(both, MemoryPictures(f1=b"png"))) == {"f1": b"png"}
    assert "the picture gone of the history was removed" in caplog.text
