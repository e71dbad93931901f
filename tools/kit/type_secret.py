"""The tool that types what the model must not know."""

from collections.abc import Collection, Sequence
from typing import Protocol

from deskhand.tools.kit.support.arguments import BadArguments, text
from deskhand.tools.kit.support.spec import (
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
"""Seconds that typing a long value may take."""


class SecretValues(Protocol):
    """What people entrusted to agents."""

    def given(self, chats: Collection[str]) -> Sequence[str]:
        """The names of those that a chat may type; ``chats`` are itself and those above it."""

    def value(self, name: str, chats: Collection[str]) -> str:
        """The value. Raises an error that says no more than the name."""

    def domains(self, name: str, chats: Collection[str]) -> Sequence[str]:
        """On whose pages alone it may be typed; none: anywhere."""


class TypeSecretTool:
    """Types a secret into what has the keyboard. ``above`` are the chats above the caller."""

    def __init__(self, secrets: SecretValues, above: Sequence[str] = ()) -> None:
        self._secrets = secrets
        self._above = above

    @property
    def spec(self) -> ToolSpec:
        """What a model is told."""
        return TYPE_SECRET

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Type it; the desktop hides the value in its recordings first."""
        chats = (context.chat_id, *self._above)
        try:
            name = text(arguments, "name").strip()
        except BadArguments as error:
            return ToolOutcome(error=str(error))
        names = self._secrets.given(chats)
        if name not in names:
            told = f"you have {', '.join(names)}" if names else "you have none"
            return ToolOutcome(error=f"there is no secret of that name for you; {told}")
        value = self._secrets.value(name, chats)
        typing: Json = {"action": "type", "text": value, "observe": {"screenshot": False}}
        if domains := self._secrets.domains(name, chats):
            # The desktop looks whose page has the keyboard, and refuses where it cannot tell.
            typing["hosts"] = list(domains)
        try:
            await context.machine.request("POST", SECRETS, json={"values": [value]})
            await context.machine.request("POST", ACTION, json=typing, timeout=PATIENCE)
        except (MachineRefused, MachineUnavailable) as error:
            return ToolOutcome(error=str(error))
        return ToolOutcome({"typed": name})


TYPE_SECRET = ToolSpec(
    "type_secret",
    "Type a secret that a person entrusted to you, such as a password, into the field that has "
    "the keyboard: click the field first. You name it and never see it. A wrong name is answered "
    "with the names that you have. Some are for the pages of some sites only.",
    {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "Which secret."}},
        "required": ["name"],
    },
)
