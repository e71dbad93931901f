"""Policy of typing: which text an agent may type, and which text must not be recorded."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from deskhand.desktop.accessibility.password_fields import TYPING, text_length
from deskhand.desktop.actions.catalog import Action, Type
from deskhand.desktop.actions.requests import ActionRequest
from deskhand.desktop.errors import ForeignHost

from .outcomes import Outcome


class PasswordFields(Protocol):
    """Whether password fields have the keyboard; in production the `focus_tracker`."""

    def password_since(self, at: float) -> bool:
        """Return whether a password field had the keyboard at that time or later."""

    def check_host(self, hosts: Sequence[str]) -> None:
        """Check that a page of one of these hosts has the keyboard. Blocks for seconds at most.

        Raises:
            ForeignHost: If none has, or if that cannot be determined.
        """


class NoPasswordFields:
    """Fields of a desktop without accessibility: none is known."""

    def password_since(self, at: float) -> bool:
        """Return that none had."""
        return False

    def check_host(self, hosts: Sequence[str]) -> None:
        """Refuse: the page cannot be determined."""
        raise ForeignHost(hosts, "")


@dataclass(frozen=True)
class TypingPolicy:
    """Restricts a text to its hosts, and redacts a text that a password field received."""

    fields: PasswordFields = field(default_factory=NoPasswordFields)

    async def check(self, action: Action) -> None:
        """Return if the action may be performed now.

        Raises:
            ForeignHost: If its text belongs to hosts that do not have the keyboard.
        """
        if isinstance(action, Type) and action.hosts:
            # Asks applications over D-Bus, which may take seconds.
            await asyncio.to_thread(self.fields.check_host, action.hosts)

    def with_redacted_text(self, request: ActionRequest, outcome: Outcome, since: float) -> Outcome:
        """Return the outcome with a count in place of a text that a password field received."""
        text = request.text
        if not text or request.name not in TYPING or not self.fields.password_since(since):
            return outcome
        return replace(outcome, redacted_text=text_length(request.name, text))
