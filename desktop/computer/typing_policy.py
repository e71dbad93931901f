"""What is asked of the field that has the keyboard, before a text goes there and after."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from deskhand.desktop.accessibility.password_fields import TYPING, counted
from deskhand.desktop.actions.catalog import Action, Type
from deskhand.desktop.actions.requests import ActionRequest
from deskhand.desktop.errors import ForeignHost

from .outcomes import Outcome


class PasswordFields(Protocol):
    """Whether password fields have the keyboard; in production the `focus_tracker`."""

    def password_since(self, at: float) -> bool:
        """Whether a password field had the keyboard at that time or later."""

    def admit(self, hosts: Sequence[str]) -> None:
        """Let a text be typed. Blocks for some seconds at most.

        Raises:
            ForeignHost: If it cannot be told that a page of one of these hosts has the keyboard.
        """


class NoPasswordFields:
    """Where nobody knows of fields."""

    def password_since(self, at: float) -> bool:
        """None is known."""
        return False

    def admit(self, hosts: Sequence[str]) -> None:
        """Refuse, since it cannot be told."""
        raise ForeignHost(hosts, "")


@dataclass(frozen=True)
class TypingPolicy:
    """Lets texts go only where they may, and marks those that nobody is to be told."""

    fields: PasswordFields = field(default_factory=NoPasswordFields)

    async def admit(self, action: Action) -> None:
        """Let an action be done; raises :class:`ForeignHost`."""
        if isinstance(action, Type) and action.hosts:
            await asyncio.to_thread(self.fields.admit, action.hosts)

    def told(self, request: ActionRequest, outcome: Outcome, since: float) -> Outcome:
        """The outcome with what is to be told of a text that went into a password field."""
        text = request.text
        if not text or request.name not in TYPING or not self.fields.password_since(since):
            return outcome
        return replace(outcome, told_text=counted(request.name, text))
