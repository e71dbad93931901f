"""The model that heals steps, and the playbook that is rewritten."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from deskhand.tools.agents.providers.errors import ModelError
from deskhand.tools.agents.providers.port import Model, Usage
from deskhand.tools.conversation.errors import NoModel
from deskhand.tools.playbooks.form.writing import write_playbook
from deskhand.tools.playbooks.playbook import Playbook, Target

from .healing import BrokenStep, chosen_target, healing_prompt


class PlaybookStore(Protocol):
    """The stored playbooks."""

    def save(self, text: str, *, replace: bool) -> Playbook:
        """Store a playbook under its own name. Blocks."""


@dataclass(frozen=True)
class HealingAnswer:
    """The answer of the model."""

    target: Target | None
    """``None`` if no widget fits, or the model cannot be asked."""
    usage: Usage
    problem: str = ""
    """Why there is no target."""


class Healer:
    """Asks one model, and stores what was rewritten.

    ``model`` returns name and model, ``None`` if no model may be asked.
    """

    def __init__(
        self, model: Callable[[], tuple[str, Model] | None], playbooks: PlaybookStore
    ) -> None:
        self._model = model
        self._playbooks = playbooks

    @property
    def can_ask(self) -> bool:
        """True if a model may be asked."""
        try:
            return self._model() is not None
        except NoModel:
            return False

    async def choose(self, broken: BrokenStep, conversation: str) -> HealingAnswer | None:
        """Ask for the target of a step; return ``None`` if no model may be asked."""
        try:
            selected = self._model()
        except NoModel:
            return None
        if selected is None:
            return None
        name, model = selected
        try:
            reply = await model.reply(healing_prompt(broken, name, conversation), lambda _: None)
        except ModelError as error:
            return HealingAnswer(None, Usage(), f"{name} could not be asked: {error}")
        target = chosen_target(reply.content)
        return HealingAnswer(
            target, reply.usage, "" if target else f"{name} found no widget that fits"
        )

    async def store(self, playbook: Playbook) -> None:
        """Store a healed playbook in place of the old one."""
        text = write_playbook(playbook)
        await asyncio.to_thread(self._playbooks.save, text, replace=True)
