"""Saving of a chat's newest run: reads what is stored about it, and stores the playbook.

While the desktop of the run is still there, its screen and its downloads are read too, for the
checks.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from deskhand.tools.agents.providers.model_table import PLAYBOOK
from deskhand.tools.conversation.states import BUSY, ChatState
from deskhand.tools.conversation.step_target import StepTarget
from deskhand.tools.conversation.views import ChatView, MessageView, StepView
from deskhand.tools.kit.support.spec import Machine, MachineRefused, MachineUnavailable
from deskhand.tools.playbooks.errors import NotReplayable
from deskhand.tools.playbooks.form.writing import write_playbook
from deskhand.tools.playbooks.playbook import Playbook

from .parameters import slug
from .recorded_run import RecordedRun, RunEnd, recorded_steps
from .saving import saved_run

log = logging.getLogger(__name__)
Json = dict[str, Any]

WIDGETS = "/api/v0/desktop/accessibility"
SCREENSHOT = "/api/v0/desktop/screenshot"
LISTING = "/api/v0/list-directory"
READ_SECONDS = 8.0
ReadPixels = Callable[[bytes], tuple[int, int, bytes]]
"""Returns width, height and RGB bytes of a picture."""
WORKING = (*BUSY, ChatState.REQUIRES_ACTION)


class RunHistory(Protocol):
    """What is stored about runs, and the desktops that are still there."""

    async def get(self, chat_id: str) -> ChatView:
        """Return a chat; raise ``UnknownRow`` if it does not exist."""

    async def steps(self, chat_id: str) -> Sequence[StepView]:
        """Return the calls of a chat."""

    async def step_targets(self, chat_id: str, turn: int) -> Mapping[str, Mapping[int, StepTarget]]:
        """Return what the actions of a turn were aimed at, by step id and position."""

    async def messages(self, chat_id: str) -> Sequence[MessageView]:
        """Return the messages of a chat."""

    async def machine(self, chat_id: str) -> Machine:
        """Return the desktop of a chat."""


class PlaybookFiles(Protocol):
    """The stored playbooks."""

    def save(
        self, text: str, patches: Mapping[str, bytes] | None = None, *, replace: bool = False
    ) -> Playbook:
        """Store a playbook under its own name. Blocks."""


class RunSaving:
    """Converts runs to stored playbooks."""

    def __init__(self, history: RunHistory, playbooks: PlaybookFiles, pixels: ReadPixels) -> None:
        """``pixels`` decodes pictures of desktops; it blocks."""
        self._pixels = pixels
        self._history = history
        self._playbooks = playbooks

    async def save(
        self, chat_id: str, name: str | None = None, *, caller: str | None = None, replace: bool
    ) -> Playbook:
        """Store the newest run of a chat, named after its title by default.

        With ``caller`` the chat must be a child of that chat.

        Raises:
            PlaybookError: If it cannot be replayed, or there is a playbook of that name.
            UnknownRow: If there is no such chat.
        """
        chat = await self._history.get(chat_id)
        if caller is not None and chat.parent_id != caller:
            raise NotReplayable("only runs of your own agents can be saved")
        if (chat.model or "").startswith(PLAYBOOK):
            raise NotReplayable("this run is a replay: it has a playbook already")
        if chat.state in WORKING:
            raise NotReplayable("the run has not ended yet")
        every = await self._history.steps(chat_id)
        turn = max((step.turn for step in every), default=0)
        steps = recorded_steps(
            [step for step in every if step.turn == turn],
            await self._history.step_targets(chat_id, turn),
            await self._history.messages(chat_id),
        )
        run = RecordedRun(steps, chat.report or "", await self._end(chat))
        saved = saved_run(
            run, name or slug(chat.title, "playbook"), f"Saved from the run {chat_id}"
        )
        text = write_playbook(saved.playbook)
        return await asyncio.to_thread(self._playbooks.save, text, saved.patches, replace=replace)

    async def _end(self, chat: ChatView) -> RunEnd:
        """Return what the desktop of the run has now; nothing if it is gone."""
        if chat.desktop_id is None:
            return RunEnd()
        try:
            async with asyncio.timeout(READ_SECONDS):
                machine = await self._history.machine(chat.id)
                tree = await machine.request("GET", WIDGETS, timeout=READ_SECONDS)
                picture = await machine.request("GET", SCREENSHOT, timeout=READ_SECONDS)
                return RunEnd(
                    tuple(_names(tree["applications"])),
                    await _downloads(machine),
                    await asyncio.to_thread(self._pixels, picture),
                )
        except (MachineRefused, MachineUnavailable, TimeoutError, KeyError, TypeError) as error:
            log.info("the screen of chat %s is not read: %s", chat.id, error)
            return RunEnd()


async def _downloads(machine: Machine) -> tuple[str, ...]:
    """Return the names of downloaded files; none if there is no such folder."""
    try:
        found = await machine.request(
            "POST", LISTING, json={"path": ["Downloads"]}, timeout=READ_SECONDS
        )
    except MachineRefused:
        return ()
    return tuple(str(one["name"]) for one in found["contents"] if not one["is_dir"])


def _names(entries: Sequence[Json]) -> list[str]:
    found: list[str] = []
    waiting = list(entries)
    while waiting:
        entry = waiting.pop()
        found.append(" ".join(str(entry.get("name", "")).split()))
        waiting += entry.get("children", ())
    return found
