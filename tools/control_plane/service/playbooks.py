"""Playbooks of a control plane: where they are stored, and the model that replays them."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Protocol

from fastapi import APIRouter

from deskhand.tools.agents.desktops.ports import DesktopMachine, Models
from deskhand.tools.agents.providers.port import Model
from deskhand.tools.control_plane.ports import Chats
from deskhand.tools.control_plane.routes.playbooks import router
from deskhand.tools.playbooks.errors import PlaybookError
from deskhand.tools.playbooks.library.library import PlaybookLibrary
from deskhand.tools.playbooks.replay.acted_pictures import performed_calls, pictures
from deskhand.tools.playbooks.replay.healer import Healer
from deskhand.tools.playbooks.replay.healing import Part
from deskhand.tools.playbooks.replay.replay_model import ReplayModel
from deskhand.tools.playbooks.replay.replay_models import ModelsWithReplays
from deskhand.tools.playbooks.replay.sight import ReadPixels
from deskhand.tools.playbooks.replay.target_search import DesktopTargetSearch
from deskhand.tools.playbooks.saving.run_saving import RunHistory, RunSaving
from deskhand.tools.store.errors import DiskLow, UnknownRow

HealingModel = Callable[[], tuple[str, Model] | None]


class ChatsOfPlaybooks(RunHistory, Protocol):
    """Chats whose runs are saved, and in which playbooks are replayed."""

    async def machine(self, chat_id: str) -> DesktopMachine:
        """Return the desktop of a chat."""


class OpenPlaybooks:
    """The playbooks of a data directory, and the models with that of replays among them."""

    chats: ChatsOfPlaybooks
    """Set before the first replay; the chats need the models, and replays need their desktops."""

    def __init__(
        self,
        data_dir: Path,
        models: Models,
        pixels: ReadPixels,
        healing: HealingModel,
        check_room: Callable[[], Awaitable[None]],
    ) -> None:
        """Take the decoder of pictures of desktops, and the choice of the model that heals steps.

        ``healing`` returns ``None`` if no model is chosen; ``check_room`` raises `DiskLow` if
        nothing new is stored.
        """
        self._check_room = check_room
        self._pixels = pixels
        self.library = PlaybookLibrary(data_dir / "playbooks")
        healer = Healer(healing, self.library, self)
        replay = ReplayModel(
            *(self.library, self._machine, DesktopTargetSearch(), time.monotonic, pixels),
            healer,
        )
        self.models: Models = ModelsWithReplays(models, self.library, replay)

    def router(self, chats: Chats) -> APIRouter:
        """Return the routes."""
        return router(self.library, self._saving(), chats, self._check_room)

    async def save_for(
        self, caller: str, chat_id: str, name: str | None, *, replace: bool
    ) -> tuple[str, str]:
        """Save the run of a child of ``caller``, for the tool of agents."""
        try:
            await self._check_room()
            saved = await self._saving().save(chat_id, name, caller=caller, replace=replace)
        except (DiskLow, PlaybookError, UnknownRow) as error:
            raise ValueError(str(error)) from error
        return saved.name, await asyncio.to_thread(self.library.text, saved.name)

    async def of_step(self, chat_id: str, number: int) -> Mapping[Part, bytes]:
        """Return the pictures that a replay recorded of a step's targets."""
        calls = performed_calls(await self.chats.steps(chat_id), number)
        if not calls:
            return {}
        return pictures(calls, await self.chats.step_targets(chat_id, calls[0].turn))

    def _saving(self) -> RunSaving:
        return RunSaving(self.chats, self.library, self._pixels)

    async def _machine(self, chat_id: str) -> DesktopMachine:
        return await self.chats.machine(chat_id)
