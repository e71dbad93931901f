"""Rows for tests."""

from deskhand.tools.store.schema import ChatRow


def chat_row(name: str, *, parent: str | None = None, created: float = 1.0) -> ChatRow:
    return ChatRow(
        id=name,
        parent_id=parent,
        root_id=parent or name,
        title=f"Chat {name}",
        mode="general",
        model=None,
        state="waiting",
        archived=False,
        requested_desktop=None,
        desktop_id=None,
        token_name=None,
        budget={},
        turn=0,
        version=0,
        created_at=created,
        updated_at=created,
    )
