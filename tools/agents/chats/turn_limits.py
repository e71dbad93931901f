"""What limits the turns of a chat: its budget, its time, and the role that selects its model."""

from deskhand.tools.agents.chat_repository.repository import ChatRepository
from deskhand.tools.agents.loop.budget import TurnBudget
from deskhand.tools.agents.providers.port import Role
from deskhand.tools.agents.workdirs.rows import start_of
from deskhand.tools.store import chats


async def budget(repository: ChatRepository, chat_id: str) -> TurnBudget:
    """Return the budget of each turn."""
    chat = await repository.store.read(lambda s: chats.get(s, chat_id))
    # The keys were checked when the child was started; a missing one has its default.
    return TurnBudget(**chat.budget)


async def seconds_left(repository: ChatRepository, chat_id: str) -> float | None:
    """Return the seconds until the turn is stopped; None for a chat without a timeout."""
    start = await repository.store.read(lambda s: start_of(s, chat_id))
    if start is None or start.timeout_seconds is None:
        return None
    view = await repository.view(chat_id)
    # A turn that a restart continues began before.
    passed = repository.now() - (view.started_at or view.created_at)
    return max(0.0, start.timeout_seconds - passed)


def role_of(mode: str, parent_id: str | None) -> Role:
    """Return the role that selects the default model; a chat on a desktop has no children."""
    if mode == "computer_use":
        return "child"
    return "parent" if parent_id is None else "helper"
