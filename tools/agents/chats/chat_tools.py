"""Tools that each chat is offered, and those that any program may call."""

from collections.abc import Iterable, Sequence

from deskhand.tools.conversation.views import ChatView
from deskhand.tools.kit.support.refused_tools import EXECUTE, refused_tools
from deskhand.tools.kit.support.spec import Tool
from deskhand.tools.kit.type_secret import TYPE_SECRET, TypeSecretTool
from deskhand.tools.secrets.chat_secrets import ChatSecrets


class ChatTools:
    """The tools of all chats.

    ``machine`` are those that work on a chat's machine, ``people`` those that ask people and that
    only models call, and ``children`` those for subagents.
    """

    def __init__(
        self,
        *,
        machine: Iterable[Tool],
        people: Iterable[Tool],
        children: Iterable[Tool],
        secrets: ChatSecrets,
    ) -> None:
        self._machine = {tool.spec.name: tool for tool in machine}
        self._people = {tool.spec.name: tool for tool in people}
        self._children = {tool.spec.name: tool for tool in children}
        self._secrets = secrets

    def all(self) -> dict[str, Tool]:
        """Return the tools that any program may call, by name."""
        return {**self._children, **self._machine, **self.typing_secrets()}

    def of(self, view: ChatView) -> dict[str, Tool]:
        """Return the tools that a chat's model is offered, by name."""
        # ``spawn`` refuses children of children, so that they are not offered the tool.
        known = self._machine if view.parent_id else self.all()
        limits = {"without_execute": view.without_execute, "look_only": view.look_only}
        refused = refused_tools(view.mode, **limits)
        every = {**known, **self._people}
        own = {name: tool for name, tool in every.items() if name not in refused}
        above = () if view.parent_id is None else (view.parent_id,)
        secret = self.typing_secrets(above, execute=EXECUTE in own)
        return {**own, **{name: tool for name, tool in secret.items() if name not in refused}}

    def typing_secrets(self, above: Sequence[str] = (), *, execute: bool = True) -> dict[str, Tool]:
        """Return the tool that types secrets of a chat with the ancestors ``above``."""
        # Also without secrets: one may be stored later, and the tools of a chat must not change.
        tool = TypeSecretTool(self._secrets, above, execute=execute, audit=self._secrets.events)
        return {TYPE_SECRET.name: tool}
