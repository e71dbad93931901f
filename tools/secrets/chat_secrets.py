"""The secrets as the chats use them: values to type, masks of results, notices of probing."""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from .masking import ProbeDetector
from .secret import Secret
from .store import SecretStore

Json = dict[str, Any]


class SecretEvents(Protocol):
    """Port to the audit log; ``deskhand.tools.audit.log.AuditLog`` implements it."""

    def note(self, actor: str, action: str, subject: str, details: Json | None = None) -> None:
        """Record an event soon."""

    async def record(self, actor: str, action: str, subject: str, details: Json) -> None:
        """Record an event, and return when it is stored."""


class NoEvents:
    """The audit log of chats without one."""

    def note(self, actor: str, action: str, subject: str, details: Json | None = None) -> None:
        """Record nothing."""

    async def record(self, actor: str, action: str, subject: str, details: Json) -> None:
        """Record nothing."""


class ChatMask:
    """Masks the texts of one chat; ``chats`` are its id, which comes first, and its ancestors'."""

    def __init__(
        self, store: SecretStore, chats: Sequence[str], found: Callable[[str, Json], None]
    ) -> None:
        self._store = store
        self._chats = chats
        self._found = found

    def hide(self, text: str) -> str:
        """Return a text of the chat, such as the arguments of a call, with its values masked."""
        return self._store.mask(self._chats)(text).text

    def hide_result(self, text: str) -> str:
        """Return a text that the model reads with its values masked, and count the masks."""
        masked = self._store.mask(self._chats)(text)
        if masked.found:
            self._found(self._chats[0], dict(masked.found))
        return masked.text

    def hide_recorded(self, text: str) -> str:
        """Return a text of a recording, in which the values of all chats are masked."""
        return self._store.hide(text)


class ChatSecrets:
    """The secrets of all chats.

    ``notify`` is called with a chat's id and a secret's name, once, if the chat may be probing the
    secret by its mask. ``clock`` returns seconds.
    """

    def __init__(
        self,
        store: SecretStore,
        notify: Callable[[str, str], None],
        events: SecretEvents | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._notify = notify
        self.events = events or NoEvents()
        self._clock = clock
        self._detector = ProbeDetector()

    def given(self, chats: Collection[str]) -> Sequence[Secret]:
        """Return the secrets that were given to a chat; ``chats`` are its id and its ancestors'."""
        return self._store.given(chats)

    def values(self, chats: Collection[str]) -> Sequence[str]:
        """Return the values that the desktop of a chat needs for its masks.

        A seed of one-time codes is not one of them: no desktop needs it, and none gets it.
        """
        return [one.value for one in self._store.given(chats) if one.kind == "text"]

    def mask_code(self, name: str, code: str) -> None:
        """Mask a one-time code of a secret from now on, too."""
        self._store.mask_code(name, code)

    def hide(self, text: str) -> str:
        """Return a text of a recording, in which the values of all chats are masked."""
        return self._store.hide(text)

    def mask(self, chat_id: str, ancestors: Collection[str] = ()) -> ChatMask:
        """Return the mask of a chat's texts."""
        return ChatMask(self._store, (chat_id, *ancestors), self._masked)

    def forget(self, chat_id: str) -> None:
        """Forget a chat that was deleted."""
        self._detector.forget(chat_id)

    def _masked(self, chat_id: str, found: Json) -> None:
        for name in self._detector.masked(chat_id, found, self._clock()):
            self.events.note(f"chat:{chat_id}", "secret.masked_often", name)
            self._notify(chat_id, name)
