"""The tool that types a secret without showing it to the model.

The desktop types it into the field that has the focus, and withholds the rest as soon as the focus
moves. The audit log has a record of the attempt before the desktop receives the value, and one of
its result.
"""

from collections.abc import Collection, Sequence
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


class EntrustedSecret(Protocol):
    """A secret that people entrusted to agents."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def value(self) -> str:
        """Its value; no message may contain it."""

    @property
    def domains(self) -> Sequence[str] | None:
        """The domains whose pages may receive it."""

    @property
    def anywhere(self) -> bool:
        """True if any application may receive it."""

    def allows(self, chats: Collection[str], *, execute: bool) -> bool:
        """Return whether a chat may type it; ``execute`` if the chat can run programs."""


class SecretValues(Protocol):
    """The secrets that people entrusted to agents."""

    def given(self, chats: Collection[str]) -> Sequence[EntrustedSecret]:
        """Return the secrets that were given to a chat; ``chats`` are its id and its ancestors'."""


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
    """

    def __init__(
        self,
        secrets: SecretValues,
        above: Sequence[str] = (),
        *,
        execute: bool = True,
        audit: SecretAudit | None = None,
    ) -> None:
        self._secrets = secrets
        self._above = above
        self._execute = execute
        self._audit = audit or NoAudit()

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
        # A screenshot in the response could show the value, in a field that does not mask it.
        observe: Json = {"screenshot": False, "targets": True}
        typing: Json = {"action": "type", "text": secret.value, "observe": observe}
        # The desktop service checks the field with the keyboard focus, and that it stays the same.
        typing["protected"] = True
        if secret.domains:
            typing["hosts"] = list(secret.domains)
        try:
            # The desktop redacts the value from its logs and recordings from this request on.
            await context.machine.request("POST", SECRETS, json={"values": [secret.value]})
            reply = await context.machine.request("POST", ACTION, json=typing, timeout=PATIENCE)
        except MachineRefused as error:
            ended = await context.after_person() if error.code == HUMAN_IN_CONTROL else ""
            # The person may have left the keyboard with another field than the model has seen.
            return ToolOutcome(error=f"not typed: {ended}" if ended else str(error)), ""
        except MachineUnavailable as error:
            return ToolOutcome(error=str(error)), ""
        targets = step_targets(reply.get("targets"))
        typed = ToolOutcome({"typed": secret.name}, targets=targets)
        return typed, str(reply.get("typed_into", ""))


NEEDS_DOMAINS = "cannot be typed: a person has to store it again with its domains"
TYPE_SECRET = ToolSpec.of(
    "type_secret",
    "Type a secret that a person entrusted to you, such as a password, into the field that has "
    "the keyboard: click the field first. You name it and never see it. A wrong name is answered "
    "with the names that you have. Some are for the pages of some sites only.",
    Fields({"name": Field({"type": "string", "description": "Which secret."}, word)}, ("name",)),
)
