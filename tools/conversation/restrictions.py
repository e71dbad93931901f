"""Restrictions of what a chat may do by itself: approvals, domains, and only looking. Pure.

A child has at least the restrictions of its parent: a model must not get rid of them by starting
another one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .errors import BadChatRequest

ApprovalMode = Literal["auto", "risky", "every"]
MODES: tuple[ApprovalMode, ...] = ("auto", "risky", "every")
"""From the fewest questions to the most."""

FIELDS = ("approval", "domains", "look_only")
"""Names in requests and in arguments of tools."""

MOST_DOMAINS = 100
_DOMAIN = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63}){0,10}")


@dataclass(frozen=True)
class ChatRestrictions:
    """Restrictions of one chat."""

    approval: ApprovalMode | None = None
    """None for the mode that follows from the setting and the model."""
    domains: tuple[str, ...] = ()
    """Domains of its task; empty if it has none."""
    look_only: bool = False
    """True if it may look and read, but give no input and change nothing."""

    def of_child(self, wanted: "ChatRestrictions") -> "ChatRestrictions":
        """Return those of a child that was started with ``wanted``.

        Raises:
            BadChatRequest: If a domain is not within those of this chat.
        """
        for domain in wanted.domains if self.domains else ():
            if not any(domain == one or domain.endswith(f".{one}") for one in self.domains):
                raise BadChatRequest(f"the domain {domain} is not among those of this chat")
        approval = wanted.approval
        if self.approval is not None:
            approval = stricter(self.approval, approval or self.approval)
        return ChatRestrictions(
            approval, wanted.domains or self.domains, self.look_only or wanted.look_only
        )


def stricter(one: ApprovalMode, other: ApprovalMode) -> ApprovalMode:
    """Return the mode of the two that asks more."""
    return max(one, other, key=MODES.index)


def default_approval(setting: str, *, scripted: bool) -> ApprovalMode:
    """Return the mode of a chat that names none; the setting may be empty."""
    usual: ApprovalMode = "auto" if scripted else "risky"
    return next((mode for mode in MODES if mode == setting), usual)


def read_restrictions(given: Mapping[str, Any]) -> ChatRestrictions:
    """Return the restrictions that a request or the arguments of a tool name.

    Raises:
        BadChatRequest: If a value is wrong.
    """
    approval = given.get("approval")
    mode = next((one for one in MODES if one == approval), None)
    if approval not in (None, "") and mode is None:
        raise BadChatRequest(f"approval must be one of {', '.join(MODES)}")
    domains = given.get("domains") or []
    if not isinstance(domains, list) or len(domains) > MOST_DOMAINS:
        raise BadChatRequest(f"domains must be a list of at most {MOST_DOMAINS} names")
    names = tuple(str(one).strip().lower().rstrip(".") for one in domains)
    for name in names:
        if not _DOMAIN.fullmatch(name):
            raise BadChatRequest(f"domains: {name[:100]!r} is no name, such as example.com")
    look_only = given.get("look_only")
    if look_only is not None and not isinstance(look_only, bool):
        raise BadChatRequest("look_only must be true or false")
    return ChatRestrictions(mode, names, bool(look_only))
