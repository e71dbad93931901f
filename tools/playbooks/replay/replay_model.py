"""The model of a chat that replays: it answers the loop with the next calls, without any request.

A replay is a run like any other. Its calls go through the loop and the tools of its chat, so that
approvals, control by people, recording, steps and restarts are those of every run. Only the model
is replaced:

    messages ──progress──> next step ──search──> calls ──> the loop performs them ──> messages ...
       │                       │            │
       │                       │            └── not found: scroll, or heal, or stop with a report
       │                       └── none left: the checks, then the report
       └── failed call: stop; one that a person's control prevented: the step again

- The messages are the only memory (:mod:`.progress`), so a replay survives a restart, and a step is
  performed at most once.
- The wait of a step is awaited before the step after it. Searching and waiting change nothing on
  the desktop and may be repeated.
- Before a target is missing it is waited for, and scrolled into view where something scrolls.
"""

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Protocol

from deskhand.desktop.geometry import Point as Pixel
from deskhand.desktop.geometry import Size, convert
from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.agents.providers.model_table import PLAYBOOK
from deskhand.tools.agents.providers.port import ModelReply, Prompt, Usage
from deskhand.tools.conversation.conversation import Message, ReplyBlock, Text, ToolCall
from deskhand.tools.playbooks.errors import PlaybookError
from deskhand.tools.playbooks.playbook import Playbook, PlaybookStep, Point, Target
from deskhand.tools.playbooks.targets.region_hash import scaled_box
from deskhand.tools.playbooks.texts import filled

from . import report
from .acted_pictures import PARTS
from .healer import Healer, HealingAnswer
from .healing import (
    BrokenStep,
    Part,
    difference,
    healed_playbook,
    healed_steps,
    healed_texts,
    newest_picture,
)
from .progress import START, Purpose, ReplayProgress, StepFailure, call_id, progress_of
from .request import checked_values, outline, read_request
from .seeking import SEEK_NOTCHES, seek_direction
from .sight import (
    DesktopSight,
    Located,
    NotLocated,
    PersonInControl,
    ReadPixels,
    Screen,
    TargetSearch,
    Unmet,
)
from .step_calls import (
    COMPUTER,
    PlannedCall,
    calls_of,
    filled_check,
    filled_step,
    opening,
    seeking,
    starting,
)

REPORT = "report"
HEARTBEAT = 0.5
"""Seconds after which a screen on which nothing changes is searched again."""
AMBIGUOUS_SECONDS = 3.0
"""Time for a page that changes to lose all matches but one."""
SEEK_AFTER, SEEK_AGAIN = 1.0, 0.2
"""Seconds before the screen is scrolled in search of a target, and between that and the next."""
MOST_ATTEMPTS = 5
"""Attempts at a step that the control of people prevents."""
STABLE_MS = 80
"""Rest of the screen after which a target that appeared is taken to stay where it is."""


class PlaybookSource(Protocol):
    """The stored playbooks."""

    def load(self, name: str) -> Playbook:
        """Read a playbook. Blocks.

        Raises:
            PlaybookError: If there is none of that name, or it has an error.
        """

    def folder(self, name: str) -> str:
        """Return the folder with the patches of a playbook."""


@dataclass(frozen=True)
class _Run:
    """One replay at one moment."""

    chat_id: str
    playbook: Playbook
    steps: tuple[PlaybookStep, ...]
    values: dict[str, str]
    progress: ReplayProgress
    sight: DesktopSight
    token: str
    messages: tuple[Message, ...] = ()
    healed: int | None = None
    """Number of the step that was healed at this moment."""

    @property
    def position(self) -> int:
        """The number of the next step."""
        if self.progress.done is not None:
            return self.progress.done + 1
        return START if self.playbook.start is not None else 0

    def step(self, number: int) -> PlaybookStep | None:
        return None if number == START else self.steps[number]


class _Stopped(Exception):
    """The replay cannot go on; the text is the reason."""


class _Mismatch(_Stopped):
    """A target was not found."""

    def __init__(self, number: int, part: Part, found: NotLocated, text: str) -> None:
        super().__init__(text)
        self.number = number
        self.part: Part = part
        self.found = found


class ReplayModel:
    """Plays the playbook that the name of a chat's model names."""

    def __init__(
        self,
        playbooks: PlaybookSource,
        machine: Callable[[str], Awaitable[DesktopMachine]],
        search: TargetSearch,
        clock: Callable[[], float],
        pixels: ReadPixels,
        healer: Healer | None = None,
    ) -> None:
        """``machine`` returns the desktop of a chat; ``pixels`` decodes pictures.

        Without ``healer`` no step is healed.
        """
        self._pixels = pixels
        self._playbooks = playbooks
        self._machine = machine
        self._search = search
        self._clock = clock
        self._healer = healer
        self._screens: dict[str, Screen] = {}
        """Sizes of the screens, by chat id."""

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        """Return the calls of the next step, or the report at the end.

        Raises:
            MachineRefused: If the desktop refuses a search.
            MachineUnavailable: If the desktop does not answer.
        """
        name = prompt.model.removeprefix(PLAYBOOK)
        token = uuid.uuid4().hex[:12]
        try:
            playbook = self._playbooks.load(name)
            request = read_request(prompt.messages)
            values = checked_values(playbook, request.values)
        except PlaybookError as error:
            return _ended(token, f"The playbook {name} cannot be replayed: {error}", "failed")
        progress = progress_of(prompt.messages)
        machine = await self._machine(prompt.conversation)
        sight = DesktopSight(machine, prompt.conversation, self._search, token, self._pixels)
        steps = tuple(filled_step(step, values) for step in playbook.steps)
        run = _Run(
            prompt.conversation, playbook, steps, values, progress, sight, token, prompt.messages
        )
        try:
            if request.outline and request.outline != outline(playbook):
                raise _Stopped("The playbook was edited after this replay began.")
            return await self._next_or_healed(run)
        except PersonInControl:
            # A call of the chat waits for the end of the control; then the step is tried again.
            pause = PlannedCall("wait_for", {"quiet_ms": 1, "timeout_seconds": 1})
            return _reply(run, run.position, "pause", (pause,))
        except _Stopped as stop:
            self._screens.pop(run.chat_id, None)
            performed = max(0, run.position)
            text = _with_healed(run, report.stopped(playbook, str(stop), performed))
            return _ended(token, text, "failed")

    async def _next_or_healed(self, run: _Run) -> ModelReply:
        try:
            return await self._next(run)
        except _Mismatch as mismatch:
            can_ask = self._healer is not None and self._healer.can_ask
            if can_ask and not run.progress.looked:
                look = PlannedCall("screenshot", {}, COMPUTER)
                return _reply(run, mismatch.number, "look", (look,))
            choice, healed = await self._healed(run, mismatch)
            if healed is None:
                problem = choice.problem if choice else "No model can be asked to heal the step"
                raise _Stopped(f"{mismatch} {problem}.") from mismatch
            shown = difference(run.playbook, healed, mismatch.number)
            # Of the new target the search is repeated, which is cheap, and checks what was stored.
            filled_in = tuple(filled_step(step, run.values) for step in healed.steps)
            reply = await self._next(
                replace(run, playbook=healed, steps=filled_in, healed=mismatch.number)
            )
            content = (Text(shown), *reply.content)
            return replace(reply, content=content, usage=choice.usage if choice else Usage())

    async def _healed(
        self, run: _Run, mismatch: _Mismatch
    ) -> tuple[HealingAnswer | None, Playbook | None]:
        """Return the answer of the model, and the rewritten playbook if it names the target."""
        if self._healer is None:
            return None, None
        step = run.steps[mismatch.number]
        broken = BrokenStep(
            *(mismatch.number, mismatch.part, step, mismatch.found.searched),
            await run.sight.text(),
            newest_picture(run.messages),
        )
        choice = await self._healer.choose(broken, run.chat_id)
        if choice is None or choice.target is None:
            return choice, None
        target, screen = choice.target, await self._screen(run)
        size, folder = run.playbook.screen, self._playbooks.folder(run.playbook.name)
        if target.point is not None:
            at = target.point
            named = await run.sight.identify(at)
            target = named or Target(point=_on(size, at, screen))
        found = await run.sight.find(target, size, folder)
        if not isinstance(found, Located):
            problem = f"The model chose {found.searched}, which is not clear: {found.seen}"
            return replace(choice, problem=problem), None
        point = _on(size, found.point, screen)
        healed = healed_playbook(run.playbook, broken, target, point, run.values)
        await self._healer.store(healed, mismatch.number, mismatch.part)
        return choice, healed

    async def _next(self, run: _Run) -> ModelReply:
        _check_failure(run)
        number = run.position
        if number == START:
            # A browser shows its widgets only if they were read before it starts.
            await self._screen(run)
            return _reply(run, START, "act", (_start_call(run),))
        if self._healer is not None and number - 1 in healed_steps(run.messages):
            await self._healer.keep_pictures(run.playbook, number - 1, run.chat_id)
        await self._awaited(run, number - 1)
        while number < len(run.steps):
            step = run.steps[number]
            screen = await self._screen(run)
            places: list[Point | None] = []
            for part in PARTS:
                found = await self._located(run, number, step, part, screen)
                if isinstance(found, PlannedCall):
                    return _reply(run, number, "seek", (found,))
                places.append(found)
            calls = calls_of(step, places[0], places[1], screen.middle)
            if calls:
                return _reply(run, number, "act", calls, step.intent)
            await self._awaited(run, number)
            number += 1
        await self._checked(run)
        self._screens.pop(run.chat_id, None)
        return _ended(run.token, _with_healed(run, report.finished(run.playbook)), "done")

    async def _screen(self, run: _Run) -> Screen:
        if run.chat_id not in self._screens:
            self._screens[run.chat_id] = await run.sight.screen()
        return self._screens[run.chat_id]

    async def _awaited(self, run: _Run, number: int) -> None:
        """Wait for what ends a step."""
        step = run.step(number) if number >= 0 else None
        if step is None or step.wait is None:
            return
        wait, region = step.wait, step.wait.changed_region
        if region is not None:
            screen = await self._screen(run)
            box = scaled_box(region, run.playbook.screen, (screen.width, screen.height))
            wait = replace(wait, changed_region=box)
        unmet = await run.sight.wait(wait)
        if unmet is not None:
            name = report.step_name(number, step)
            raise _Stopped(report.unmet(f"The wait after {name}", unmet.conditions, unmet.seen))

    async def _checked(self, run: _Run) -> None:
        for number, check in enumerate(run.playbook.check):
            unmet: Unmet | None = await run.sight.check(
                filled_check(check, run.values), run.playbook.screen
            )
            if unmet is not None:
                raise _Stopped(report.unmet(f"Check {number + 1}", unmet.conditions, unmet.seen))

    async def _located(
        self, run: _Run, number: int, step: PlaybookStep, part: Part, screen: Screen
    ) -> Point | PlannedCall | None:
        """Return where a target is, or the call that scrolls in search of it.

        Raises:
            _Stopped: If it is missing or ambiguous until the time-out of the step.
        """
        target = step.target if part == "target" else step.to
        if target is None:
            return None
        began, moved = self._clock(), False
        patience = SEEK_AGAIN if run.progress.seeks else SEEK_AFTER
        size, folder = run.playbook.screen, self._playbooks.folder(run.playbook.name)
        while True:
            found = await run.sight.find(target, size, folder)
            if isinstance(found, Located):
                if not moved:
                    return found.point
                # What has just appeared may still move: search again when the screen rests.
                await run.sight.rest(STABLE_MS, HEARTBEAT)
                moved = False
                continue
            passed = self._clock() - began
            limit = 0.0 if run.progress.looked else step.timeout_seconds
            if found.ambiguous:
                limit = min(limit, AMBIGUOUS_SECONDS)
            seek = self._seek(run, found, target) if passed >= min(patience, limit) else None
            if seek is not None:
                return seek
            if passed >= limit:
                raise _Mismatch(number, part, found, _mismatch(number, step, found))
            await run.sight.change(screen, min(HEARTBEAT, patience, limit - passed))
            moved = True

    def _seek(self, run: _Run, found: NotLocated, target: Target) -> PlannedCall | None:
        if found.ambiguous or found.scrollable is None or not target.has_identity:
            return None
        direction = seek_direction(run.progress.seeks)
        return None if direction is None else seeking(found.scrollable, direction, SEEK_NOTCHES)


def _on(size: tuple[int, int], point: Point, screen: Screen) -> Point:
    """Return a point of the screen in pixels of a screen of another size."""
    return convert(Pixel(*point), Size(screen.width, screen.height), Size(*size))


def _with_healed(run: _Run, text: str) -> str:
    return "\n\n".join((text, *healed_texts(run.messages)))


def _check_failure(run: _Run) -> None:
    failure: StepFailure | None = run.progress.failure
    if failure is None:
        return
    name = report.step_name(failure.step, run.step(failure.step))
    if failure.unknown:
        raise _Stopped(f"{name}: it was interrupted and may or may not have taken effect.")
    if not (failure.not_sent and run.progress.attempts < MOST_ATTEMPTS):
        raise _Stopped(f"{name}: {failure.text}")


def _start_call(run: _Run) -> PlannedCall:
    start = run.playbook.start
    if start is not None and start.url:
        return opening(filled(start.url, run.values))
    return starting(filled(start.command if start else "", run.values))


def _mismatch(number: int, step: PlaybookStep, found: NotLocated) -> str:
    name = report.step_name(number, step)
    return report.not_found(name, found.searched, found.seen, ambiguous=found.ambiguous)


def _reply(
    run: _Run, number: int, purpose: Purpose, calls: tuple[PlannedCall, ...], intent: str = ""
) -> ModelReply:
    content: list[ReplyBlock] = [Text(intent)] if intent else []
    content += [
        ToolCall(
            call_id(number, purpose, run.token, part, healed=number == run.healed),
            call.name,
            call.arguments,
            call.toolset,
            reason=intent,
        )
        for part, call in enumerate(calls)
    ]
    return ModelReply(tuple(content), "tool_use", Usage())


def _ended(token: str, summary: str, outcome: str) -> ModelReply:
    arguments = {"summary": summary, "outcome": outcome}
    return ModelReply((ToolCall(f"replay-report-{token}", REPORT, arguments),), "tool_use", Usage())
