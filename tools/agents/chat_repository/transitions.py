"""Transitions of the state table, applied in the database."""

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.questions import rows as questions
from deskhand.tools.conversation.conversation import Message
from deskhand.tools.conversation.errors import MessageQueueFull
from deskhand.tools.conversation.states import (
    UNFINISHED,
    ChatState,
    Delivery,
    Situation,
    StateEvent,
    Transition,
    move,
)
from deskhand.tools.store import messages, turns
from deskhand.tools.store.schema import ChatRow


async def apply(
    session: AsyncSession,
    chat: ChatRow,
    event: StateEvent,
    now: float,
    *,
    message: Message | None = None,
    queue_limit: int = 20,
    after_step: bool = False,
) -> Transition:
    """Apply an event to a chat: to its state, its messages, and the turn that may begin.

    ``after_step``: if the message is queued, the turn at work takes it.

    Raises:
        IllegalMove: If the table has no transition for the event.
        MessageQueueFull: If the message would be one too many.
    """
    waiting = await messages.queue_length(session, chat.id)
    transition = move(Situation(ChatState(chat.state), waiting > 0, chat.archived), event)
    if message is not None and transition.delivery is Delivery.APPEND:
        await messages.append(session, chat.id, message, now)
    elif message is not None:
        # Raising rolls back the whole transaction, so that a refused message changes nothing.
        if waiting >= queue_limit:
            raise MessageQueueFull(queue_limit)
        await messages.enqueue(session, chat.id, message, now, after_step=after_step)
    if transition.delivery in (Delivery.PROMOTE, Delivery.ENQUEUE_AND_PROMOTE):
        await messages.promote(session, chat.id)
    # Every delivery into the history begins a turn: the model answers what the history ends with.
    if transition.delivery not in (Delivery.NONE, Delivery.ENQUEUE):
        await turns.begin(session, chat, now)
    if (
        chat.state == ChatState.REQUIRES_ACTION
        and transition.state is not ChatState.REQUIRES_ACTION
    ):
        # After an answer there is none: it was closed in the same transaction.
        await questions.withdraw_open(session, chat.id, now)
    chat.state = transition.state.value
    if transition.state not in UNFINISHED:
        # Its next turn may be driven by any control plane.
        chat.driver = chat.person_since = None
    chat.archived = transition.archived
    bump_version(chat, now)
    return transition


def bump_version(chat: ChatRow, now: float) -> None:
    """Count a change of a chat, so that clients can recognise an older view of it."""
    chat.updated_at = now
    chat.version += 1
