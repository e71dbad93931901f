"""Decision which chats the supervisor resumes: unfinished ones that have no task."""

from collections.abc import Collection, Iterable

GRACE_SECONDS = 5.0
"""Time after a change in which a chat may have no task yet: its row is committed before the task
starts."""


def stranded(
    unfinished: Iterable[tuple[str, float]], with_task: Collection[str], now: float
) -> tuple[str, ...]:
    """Return the chats to resume; ``unfinished`` has their ids and the times of their change."""
    return tuple(
        chat_id
        for chat_id, changed_at in unfinished
        if chat_id not in with_task and now - changed_at >= GRACE_SECONDS
    )
