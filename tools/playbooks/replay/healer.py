"""The model that heals steps, and the playbook that is rewritten."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from deskhand.tools.agents.providers.errors import ModelError
from deskhand.tools.agents.providers.port import Model, Usage
from deskhand.tools.conversation.errors import NoModel
from deskhand.tools.playbooks.errors import PlaybookError
from deskhand.tools.playbooks.form.rewriting import with_target
from deskhand.tools.playbooks.playbook import Playbook, Target

from .healing import BrokenStep, Part, chosen_target, healing_prompt, with_picture

log = logging.getLogger(__name__)


class PlaybookStore(Protocol):
    """The stored playbooks."""

    def text(self, name: str) -> str:
        """Return the text of a playbook. Blocks."""

    def save(
        self, text: str, patches: Mapping[str, bytes] | None = None, *, replace: bool = False
    ) -> Playbook:
        """Store a playbook under its own name. Blocks."""


class ActedPictures(Protocol):
    """The pictures that were taken before the actions of a replay."""

    async def of_step(self, chat_id: str, number: int) -> Mapping[Part, bytes]:
        """Return those around the targets of a step, counted from 0; none if none was kept."""


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
        self,
        model: Callable[[], tuple[str, Model] | None],
        playbooks: PlaybookStore,
        pictures: ActedPictures,
    ) -> None:
        self._model = model
        self._playbooks = playbooks
        self._pictures = pictures

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

    async def store(
        self,
        playbook: Playbook,
        number: int,
        part: Part,
        patches: Mapping[str, bytes] | None = None,
    ) -> None:
        """Store a healed playbook; only the target of that step is rewritten in its text."""

        def work() -> None:
            text = with_target(self._playbooks.text(playbook.name), playbook, number, part)
            self._playbooks.save(text, patches, replace=True)

        await asyncio.to_thread(work)

    async def keep_pictures(self, playbook: Playbook, number: int, chat_id: str) -> None:
        """Store the pictures of a healed step, which has been performed; twice does no harm."""
        pictures = await self._pictures.of_step(chat_id, number)
        try:
            for part, picture in pictures.items():
                pictured = with_picture(playbook, number, part)
                if pictured is not None:
                    playbook, file = pictured
                    await self.store(playbook, number, part, {file: picture})
        except (OSError, PlaybookError) as error:
            # The step is healed without it.
            log.warning("a picture of %s is not stored: %s", playbook.name, error)
