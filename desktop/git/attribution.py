"""Answers git's credential prompts for a chat, and marks the chat's branch as stale.

Git asks for a password when it contacts a remote, so the branch at the remote has probably changed
soon afterwards.
"""

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
"""Seconds that ``stale_at`` is set back, so that a comparison with the present finds it older."""
MOST_CHATS = 1_000


@dataclass(frozen=True)
class Ref:
    """The branch that a chat last used a remote for."""

    branch: str
    origin: str
    stale_at: float
    """Unix time since when the known state of the branch is out of date."""

    def to_json(self) -> Json:
        """Return the JSON of the branch."""
        return {"branch": self.branch, "remote_origin": self.origin, "stale_at": self.stale_at}


class Attribution:
    """Answers git's questions, and marks the branches that git is then likely to change."""

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
        """Return the branches by chat; with an id, only that chat's."""
        return {name: ref for name, ref in self._refs.items() if chat_id in ("", name)}

    def mark_stale(self, chat_id: str, branch: str, origin: str) -> list[str]:
        """Mark a branch of a chat as stale; of all chats without an id. Return the chats.

        Watchers of their repositories scan again. Nothing is marked without branch or origin.
        """
        branch, origin = branch.strip(), without_secret(origin.strip())
        if not branch or not origin:
            return []
        marked = [chat_id] if chat_id else sorted({*self._store.chats, *self._refs})
        ref = Ref(branch, origin, self._wall() - EARLIER)
        for name in marked:
            # Popped and added again, the branch moves to the end: the limit drops the oldest mark
            # first.
            self._refs.pop(name, None)
            self._refs[name] = ref
            self._store.note(CallingChat(name), [])
            self._publish(STALE_EVENT, {"chat_id": name, **ref.to_json()})
        while len(self._refs) > MOST_CHATS:
            del self._refs[next(iter(self._refs))]
        return marked

    def answer(self, question: Question) -> str | None:
        """Return the requested username or password; None if none is known."""
        prompt = prompt_of(question.prompt)
        found = self._credentials.find(prompt.server) if prompt else None
        if prompt is None or found is None:
            return None
        if prompt.kind == "username":
            return found.username
        # The prompt is for another account of the same server, whose password is not known.
        if prompt.username != found.username:
            return None
        # A malformed chat id must not mark the branches of all chats, as an empty one does.
        if not question.chat_id or _is_uuid(question.chat_id):
            self.mark_stale(question.chat_id, question.branch, question.origin)
        return found.password


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
