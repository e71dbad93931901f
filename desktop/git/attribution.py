"""For which chat git asks, what it is told, and which chats' branches may be out of date now."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from deskhand.desktop.tool_calls.caller import CallingChat

from .credential_prompts import Question, prompt_of
from .credentials import GitCredentials
from .repository_state import without_secret
from .touched_paths import PathStore

Json = dict[str, Any]

STALE_EVENT = "diff_status_change"
EARLIER = 1.0
"""Seconds by which a branch is out of date already: whoever compares with this moment sees it."""
MOST_CHATS = 1_000


@dataclass(frozen=True)
class Ref:
    """The branch that a chat last used a remote for."""

    branch: str
    origin: str
    stale_at: float
    """Unix time since when what is known of it is out of date."""

    def to_json(self) -> Json:
        """Return it as it goes over the wire."""
        return {"branch": self.branch, "remote_origin": self.origin, "stale_at": self.stale_at}


class Attribution:
    """Answers git for a chat, and marks what git is then likely to change."""

    def __init__(
        self,
        store: PathStore,
        credentials: GitCredentials,
        publish: Callable[[str, Json], object],
        wall: Callable[[], float],
    ) -> None:
        self._store = store
        self._credentials = credentials
        self._publish = publish
        self._wall = wall
        self._refs: dict[str, Ref] = {}

    def refs(self, chat_id: str = "") -> dict[str, Ref]:
        """Return the branches by chat; with an id, that chat's alone."""
        return {name: ref for name, ref in self._refs.items() if chat_id in ("", name)}

    def mark_stale(self, chat_id: str, branch: str, origin: str) -> list[str]:
        """Mark a branch of a chat as out of date; of all chats if no chat is named.

        Who watches their repositories looks again. Without a branch or an origin nothing happens.
        Returns the chats.
        """
        branch, origin = branch.strip(), without_secret(origin.strip())
        if not branch or not origin:
            return []
        marked = [chat_id] if chat_id else sorted({*self._store.chats, *self._refs})
        ref = Ref(branch, origin, self._wall() - EARLIER)
        for name in marked:
            self._refs.pop(name, None)
            self._refs[name] = ref
            self._store.note(CallingChat(name), [])
            self._publish(STALE_EVENT, {"chat_id": name, **ref.to_json()})
        while len(self._refs) > MOST_CHATS:
            del self._refs[next(iter(self._refs))]
        return marked

    def answer(self, question: Question) -> str | None:
        """Return the name or the password that is asked for; None if none is known here."""
        prompt = prompt_of(question.prompt)
        found = self._credentials.find(prompt.server) if prompt else None
        if prompt is None or found is None:
            return None
        if prompt.kind == "username":
            return found.username
        if prompt.username != found.username:
            return None
        # A chat's id that is none says nothing about the other chats.
        if not question.chat_id or _is_uuid(question.chat_id):
            self.mark_stale(question.chat_id, question.branch, question.origin)
        return found.password


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
