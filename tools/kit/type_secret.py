"""The tool that types a secret without showing it to the model."""

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
"""Timeout in seconds for typing a long value."""


class SecretValues(Protocol):
    """The secrets that people entrusted to agents."""

    def given(self, chats: Collection[str]) -> Sequence[str]:
        """Return the names that a chat may type; ``chats`` are the chat and its ancestors."""

    def value(self, name: str, chats: Collection[str]) -> str:
        """Return the value. Raises an error that contains only the name."""

    def domains(self, name: str, chats: Collection[str]) -> Sequence[str]:
        """Return the domains whose pages may receive the value; empty for any."""


class TypeSecretTool:
    """Types a secret into the focused field. ``above`` are the ancestors of the calling chat."""

    def __init__(self, secrets: SecretValues, above: Sequence[str] = ()) -> None:
        self._secrets = secrets
        self._above = above

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return TYPE_SECRET

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Type the secret, after the desktop has registered its value for redaction."""
        chats = (context.chat_id, *self._above)
        try:
            name = text(arguments, "name").strip()
        except BadArguments as error:
            return ToolOutcome(error=str(error))
        names = self._secrets.given(chats)
        if name not in names:
            known = f"you have {', '.join(names)}" if names else "you have none"
            return ToolOutcome(error=f"there is no secret of that name for you; {known}")
        # From here on the value must not reach the model: no error message may contain it.
        value = self._secrets.value(name, chats)
        # A screenshot in the response could show the value, in a field that does not mask it.
        typing: Json = {"action": "type", "text": value, "observe": {"screenshot": False}}
        if domains := self._secrets.domains(name, chats):
            # The desktop service checks the page with keyboard focus, and refuses an unknown one.
            typing["hosts"] = list(domains)
        try:
            # The desktop redacts the value from its logs and recordings from this request on.
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
