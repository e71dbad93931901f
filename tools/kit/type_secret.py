"""The tool that types a secret without showing it to the model.

The desktop types it into the field that has the focus, and withholds the rest as soon as the focus
moves. The audit log has a record of the attempt before the desktop receives the value, and one of
its result.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Protocol

from deskhand.desktop.fields import Field, Fields, word
from deskhand.tools.conversation.step_target import step_targets
from deskhand.tools.kit.support.arguments import CheckedTool
from deskhand.tools.kit.support.spec import (
    HUMAN_IN_CONTROL,
    Json,
    MachineRefused,
    MachineUnavailable,
    ToolContext,
    ToolOutcome,
    ToolSpec,
)

ACTION = "/api/v0/desktop/action"
SECRETS = "/api/v0/desktop/secrets"
PATIENCE = 60.0
"""Timeout in seconds for typing a long value."""


class Entered(Protocol):
    """The text to type for a secret."""

    @property
    def text(self) -> str:
        """The text."""

    @property
    def seconds_left(self) -> float | None:
        """For how long a one-time code is valid; ``None`` for other texts."""


class EntrustedSecret(Protocol):
    """A secret that people entrusted to agents."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def domains(self) -> Sequence[str] | None:
        """The domains whose pages may receive it."""

    @property
    def anywhere(self) -> bool:
        """True if any application may receive it."""

    @property
    def any_field(self) -> bool:
        """True if any field of the pages of its domains may receive it."""

    def allows(self, chats: Collection[str], *, execute: bool) -> bool:
        """Return whether a chat may type it; ``execute`` if the chat can run programs."""

    def wait(self, now: float) -> float:
        """Return the seconds until it can be typed; ``now`` is in seconds since 1970."""

    def entered(self, now: float) -> Entered:
        """Return the text to type at a time; no message may contain it."""


class SecretValues(Protocol):
    """The secrets that people entrusted to agents."""

    def given(self, chats: Collection[str]) -> Sequence[EntrustedSecret]:
        """Return the secrets that were given to a chat; ``chats`` are its id and its ancestors'."""

    def mask_code(self, name: str, code: str) -> None:
        """Mask a one-time code of a secret in texts from now on."""


class SecretAudit(Protocol):
    """Writes what becomes of a secret to the audit log."""

    async def record(self, actor: str, action: str, subject: str, details: Json) -> None:
        """Write one record, and return when it is stored."""


class NoAudit:
    """The audit log of chats without one, as in tests."""

    async def record(self, actor: str, action: str, subject: str, details: Json) -> None:
        """Write nothing."""


class TypeSecretTool(CheckedTool):
    """Types a secret into the focused field.

    ``above`` are the ancestors of the calling chat, and ``execute`` is true if it runs programs.
    ``clock`` returns seconds since 1970, and ``sleep`` waits for a one-time code that does not
    expire at once.
    """

    def __init__(
        self,
        secrets: SecretValues,
        above: Sequence[str] = (),
        *,
        execute: bool = True,
        audit: SecretAudit | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._secrets = secrets
        self._above = above
        self._execute = execute
        self._audit = audit or NoAudit()
        self._clock, self._sleep = clock, sleep

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return TYPE_SECRET

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Type the secret, after the desktop has registered its value for redaction."""
        chats, name = (context.chat_id, *self._above), given["name"]
        found = {
            one.name: one
            for one in self._secrets.given(chats)
            if one.allows(chats, execute=self._execute)
        }
        secret = found.get(name)
        if secret is None:
            known = f"you have {', '.join(found)}" if found else "you have none"
            return ToolOutcome(error=f"there is no secret of that name for you; {known}")
        if not (secret.domains or secret.anywhere):
            return ToolOutcome(error=f"{name} {NEEDS_DOMAINS}")
        where: Json = {"domains": list(secret.domains)} if secret.domains else {"anywhere": True}
        actor = f"chat:{context.chat_id}"
        await self._audit.record(actor, "secret.type", name, where)
        outcome, host = await self._typed(secret, context)
        details = where | ({"error": outcome.error} if outcome.is_error else {"host": host})
        action = "secret.refused" if outcome.is_error else "secret.typed"
        await self._audit.record(actor, action, name, details)
        return outcome

    async def _typed(
        self, secret: EntrustedSecret, context: ToolContext
    ) -> tuple[ToolOutcome, str]:
        """Return the outcome, and the host of the page that received the value."""
        if seconds := secret.wait(self._clock()):
            await self._sleep(seconds)
        entered = secret.entered(self._clock())
        is_code = entered.seconds_left is not None
        if is_code:
            self._secrets.mask_code(secret.name, entered.text)
        hidden: Json = (
            {"values": [], "codes": [entered.text]} if is_code else {"values": [entered.text]}
        )
        # A screenshot in the response could show the value, in a field that does not mask it.
        observe: Json = {"screenshot": False, "targets": True}
        typing: Json = {"action": "type", "text": entered.text, "observe": observe}
        # The desktop service checks the field with the keyboard focus, and that it stays the same.
        typing["protected"] = True
        if secret.domains:
            typing["hosts"] = list(secret.domains)
            if secret.any_field:
                typing["any_field"] = True
        try:
            # The desktop redacts the value from its logs and recordings from this request on.
            await context.machine.request("POST", SECRETS, json=hidden)
            reply = await context.machine.request("POST", ACTION, json=typing, timeout=PATIENCE)
        except MachineRefused as error:
            ended = await context.after_person() if error.code == HUMAN_IN_CONTROL else ""
            # The person may have left the keyboard with another field than the model has seen.
            return ToolOutcome(error=f"not typed: {ended}" if ended else str(error)), ""
        except MachineUnavailable as error:
            return ToolOutcome(error=str(error)), ""
        targets = step_targets(reply.get("targets"))
        value: Json = {"typed": secret.name}
        if entered.seconds_left is not None:
            value["expires_in_s"] = round(entered.seconds_left)
        if reply.get("nothing_focused"):
            value["warning"] = NOWHERE
        return ToolOutcome(value, targets=targets), str(reply.get("typed_into", ""))


NOWHERE = "no window had the keyboard, and the value went nowhere: click the field first"
NEEDS_DOMAINS = "cannot be typed: a person has to store it again with its domains"
TYPE_SECRET = ToolSpec.of(
    "type_secret",
    "Type a secret that a person entrusted to you, such as a password, into the field that has "
    "the keyboard: click the field first. You name it and never see it. A wrong name is answered "
    "with the names that you have. Some are for the pages of some sites only, "
    "and there for fields of a sign-in. Of a one-time code the current one is typed; send the form "
    "before it expires.",
    Fields({"name": Field({"type": "string", "description": "Which secret."}, word)}, ("name",)),
)
