"""Port to the tasks in which chats take their turns."""

from typing import Protocol


class TurnTasks(Protocol):
    """One task for each chat at work, here or on the control plane that drives the chat."""

    @property
    def chat_ids(self) -> frozenset[str]:
        """Ids of the chats that have a task here."""

    def generation_of(self, chat_id: str) -> int:
        """Return the generation under which a chat is driven here; 0 if nothing is fenced."""

    def start(self, chat_id: str) -> None:
        """Start a chat's task; a task that is about to end takes another turn instead."""

    def ensure(self, chat_id: str) -> None:
        """Start a chat's task unless it has one."""

    def interrupt(self, chat_id: str) -> None:
        """Cancel the current run of a chat; its turn is finished as interrupted."""

    async def over(self, chat_id: str) -> None:
        """Return when the chat has no task here any more."""

    async def close(self, seconds: float = 0.0) -> None:
        """Put back the turns that are running, actions after ``seconds``; start no more."""
