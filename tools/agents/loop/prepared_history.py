"""The prepared history of one turn, which grows with its transcript. Pure.

Each request repeats the history of the request before it. What was prepared once is kept here, and
the same objects are returned again, by which the adapters recognise what they have sent already
(:class:`~deskhand.tools.agents.providers.sent_parts.SentParts`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deskhand.tools.agents.providers.sent_parts import unchanged
from deskhand.tools.conversation.conversation import Message
from deskhand.tools.conversation.message_pictures import picture_count, without_first_pictures

from . import history


@dataclass
class _Prepared:
    joined: Message
    """Consecutive messages of one role, as one."""
    whole: Message
    """With all its pictures."""
    pictures: int
    shown: Message
    """With ``left_out`` pictures less."""
    left_out: int = 0


class PreparedHistory:
    """Prepares a history for requests, and each message of it once.

    A request gets a valid conversation, and no result that is longer than a model can use.
    """

    def __init__(self) -> None:
        self._messages: Sequence[Message] = ()
        self._prepared: list[_Prepared] = []
        self.settled: tuple[int, ...] = ()
        """Messages up to which nothing changes when the next old pictures are left out."""

    def prepared(
        self, messages: Sequence[Message], *, keep: int | None, batch: int = history.BATCH
    ) -> tuple[Message, ...]:
        """Return what to send, with all pictures or ``keep`` to ``keep + batch - 1`` of them.

        Then :attr:`settled` is that of the result.
        """
        same = unchanged(self._messages, messages)
        # The history was changed, not only continued.
        if same < len(self._messages):
            self._prepared.clear()
            same = 0
        for message in messages[same:]:
            self._add(message)
        self._messages = messages
        sent = [one for one in (*self._prepared, *self._unanswered()) if one.whole.content]
        if keep is not None:
            # Pictures are counted last, so that those of dropped results do not take the place of
            # others.
            counts = [one.pictures for one in sent]
            _leave_out(sent, history.left_out(counts, keep, batch))
            roles = [one.joined.role for one in sent]
            self.settled = history.settled(roles, counts, keep, batch)
        return tuple(one.shown for one in sent)

    def _add(self, message: Message) -> None:
        if self._prepared and self._prepared[-1].joined.role == message.role:
            message = Message(message.role, self._prepared.pop().joined.content + message.content)
        calls = history.calls_of(self._prepared[-1].joined) if self._prepared else ()
        answered = history.answering(message, calls) if message.role == "user" else message
        self._prepared.append(_prepared(message, history.short_message(answered)))

    def _unanswered(self) -> Iterable[_Prepared]:
        last = self._prepared[-1].joined if self._prepared else None
        calls = history.calls_of(last) if last is not None else ()
        if calls:
            message = Message("user", tuple(history.interrupted(call) for call in calls))
            yield _prepared(message, message)


def prepared(
    messages: Iterable[Message], *, keep: int | None, batch: int = history.BATCH
) -> tuple[Message, ...]:
    """Return what to send of a history at once; see :class:`PreparedHistory`."""
    return PreparedHistory().prepared(tuple(messages), keep=keep, batch=batch)


def _prepared(joined: Message, whole: Message) -> _Prepared:
    return _Prepared(joined, whole, picture_count(whole), whole)


def _leave_out(sent: Iterable[_Prepared], counts: Iterable[int]) -> None:
    for one, count in zip(sent, counts, strict=True):
        if count != one.left_out:
            one.shown, one.left_out = without_first_pictures(one.whole, count), count
