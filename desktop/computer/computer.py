"""A computer with a screen, a mouse and a keyboard."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Protocol, Self, TypeVar

from deskhand.desktop.actions.catalog import (
    ACTIONS,
    ActionRecord,
    Click,
    CursorPosition,
    MouseMove,
    Screenshot,
    Wait,
)
from deskhand.desktop.actions.plan import batches, plan
from deskhand.desktop.actions.points import ActionPoint, pointer_point
from deskhand.desktop.actions.requests import ActionRequest, BatchRequest, picture_of
from deskhand.desktop.errors import ActionFailed, DesktopError, QueueFull, UntypableText
from deskhand.desktop.geometry import Point, Size
from deskhand.desktop.input.events import InputEvent, Pause
from deskhand.desktop.lease.access import AccessControl, UnrestrictedAccess, only_looks
from deskhand.desktop.screenshots.options import View, view
from deskhand.desktop.tool_calls.caller import Caller

from .observer import FocusSource, Observer, Screen, ScreenshotRenderer, Stages
from .outcomes import BatchOutcome, Outcome, ScreenshotResult, outcome_of
from .typing_policy import TypingPolicy

T = TypeVar("T")


class InputDevice(Protocol):
    """What acts. Blocking; called from one thread only."""

    def perform(self, strokes: Sequence[InputEvent]) -> None:
        """Do strokes, none of them a pause, and return when the display has them.

        Raises:
            UntypableText: If the keyboard has no room for a character.
            ActionFailed: If the display refuses a stroke.
        """

    def release_all(self) -> None:
        """Let go of every key and button that is still held."""

    def position(self) -> Point:
        """Where the mouse pointer is."""


class ActionProgress(Protocol):
    """Where it is written down how far one request has come."""

    def began(self) -> None:
        """From now on it may have been done."""

    def ended(self, outcome: Outcome | BatchOutcome) -> None:
        """It has been done; what it was looked at for is not in the outcome yet."""


class NoProgress:
    """For requests that nobody repeats."""

    def began(self) -> None:
        """Forget it."""

    def ended(self, outcome: Outcome | BatchOutcome) -> None:
        """Forget it."""


NO_PROGRESS = NoProgress()


class Computer:
    """Performs actions one at a time, in the order in which they arrive, and looks at the result.

    Cancelling an action lets go of every key and button. An async context manager; it owns two
    threads, one for the hands and one for pictures.
    """

    def __init__(
        self,
        screen: Screen,
        hands: InputDevice,
        pictures: ScreenshotRenderer,
        observer: Callable[[ActionRecord], None],
        *,
        instance_id: str,
        boot: str | None = None,
        floor: AccessControl | None = None,
        windows: FocusSource | None = None,
        discretion: TypingPolicy | None = None,
        queue: int = 32,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.instance_id = instance_id
        self._eyes = Observer(screen, pictures, boot or instance_id, clock, windows)
        self._hands = hands
        self._observer = observer
        self._floor = floor or UnrestrictedAccess()
        self._discretion = discretion or TypingPolicy()
        self._queue = queue
        self._clock, self._sleep = clock, sleep
        self._turns = asyncio.Lock()
        self._waiting = 0
        self._thread = ThreadPoolExecutor(1, "hands")
        self.last_activity: float | None = None
        """When the last action ended, in seconds on the monotonic clock."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def size(self) -> Size:
        """Native size of the screen."""
        return self._eyes.size

    async def close(self) -> None:
        """Let go of everything and end the threads; twice is fine."""
        try:
            with suppress(DesktopError, RuntimeError):
                await self.release_all()
        finally:
            self._thread.shutdown(wait=False)
            self._eyes.close()

    async def release_all(self) -> None:
        """Let go of every key and button, after what the hands do just now."""
        await asyncio.shield(self._do(self._hands.release_all))

    def let_go(self) -> None:
        """Let go of every key and button before anything that is begun after this call."""
        with suppress(RuntimeError):
            self._thread.submit(self._hands.release_all)

    async def act(
        self, request: ActionRequest, caller: Caller, journal: ActionProgress = NO_PROGRESS
    ) -> Outcome:
        """Perform one action when its turn has come.

        Raises:
            QueueFull: If too many wait already.
            Occupied: If somebody else acts, or takes over meanwhile.
            ActionFailed: If it was begun and went wrong; then nothing stays pressed.
            DisplayGone: If there is no display to act on.
        """
        stages = Stages(self._clock)

        async def act() -> Outcome:
            journal.began()
            outcome = await self._perform(request, caller, stages)
            journal.ended(outcome)
            return outcome

        async with self._turn(request, caller):
            with self._recorded(request, caller, stages) as note:
                if request.observe is None:
                    outcome = await act()
                    note.frames = ("", outcome.frame_id)
                    return self._discretion.told(request, outcome, note.started)
                picture = picture_of(request, self.size)
                outcome, seen = await self._eyes.watched(
                    act, request.observe, picture, stages, clicks=_clicks(request)
                )
                self._floor.look()
                note.changed_fraction = seen.changes.fraction
                note.frames = (seen.frame_before, seen.frame_id)
                outcome = replace(outcome, observation=seen)
                return self._discretion.told(request, outcome, note.started)

    async def batch(
        self, batch: BatchRequest, caller: Caller, journal: ActionProgress = NO_PROGRESS
    ) -> BatchOutcome:
        """Perform actions in order up to the first that fails, and look once at the end.

        Raises:
            QueueFull: If too many wait already.
            Occupied: If somebody else acts, or takes over meanwhile.
            DisplayGone: If there is no display to act on.
        """
        stages = Stages(self._clock)

        async def act() -> BatchOutcome:
            journal.began()
            results = await self._perform_all(batch, caller, stages)
            outcome = BatchOutcome(
                results=results,
                skipped=len(batch.actions) - len(results),
                space=batch.space,
                native=self.size,
                frame_id=await self._eyes.frame_id(),
                timings=stages.taken,
                observation=None,
            )
            journal.ended(outcome)
            return outcome

        async with self._turn(batch, caller):
            if batch.observe is None:
                return await act()
            picture = view(batch.observe.options, batch.space, self.size)
            clicks = _clicks(batch.actions[-1])
            outcome, seen = await self._eyes.watched(
                act, batch.observe, picture, stages, clicks=clicks
            )
            self._floor.look()
            return replace(outcome, frame_id=seen.frame_id, observation=seen)

    async def picture(self, wanted: View, known: Container[str] = ()) -> ScreenshotResult:
        """Take a picture without waiting for actions; ``known`` are ETags the caller has.

        Raises:
            HumanInControl: While a person has the screen in private.
        """
        self._floor.look()
        shot = await self._eyes.picture(wanted, Stages(self._clock), known)
        self._floor.look()
        return shot

    @asynccontextmanager
    async def _turn(
        self, request: ActionRequest | BatchRequest, caller: Caller
    ) -> AsyncIterator[None]:
        if self._waiting >= self._queue:
            raise QueueFull(self._queue)
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        try:
            self._floor.look()
            if only_looks(request):
                yield
                return
            with self._floor.acting(caller.chat_id):
                yield
        finally:
            self._turns.release()

    @contextmanager
    def _recorded(
        self, request: ActionRequest, caller: Caller, stages: Stages
    ) -> Iterator["_Note"]:
        note = _Note(self._clock())
        try:
            yield note
        except DesktopError as error:
            note.error = str(error)
            raise
        except asyncio.CancelledError:
            note.error = "cancelled"
            raise
        finally:
            self.last_activity = self._clock()
            at = request.point
            self._observer(
                ActionRecord(
                    tool_call_id=caller.tool_call_id,
                    chat_id=caller.chat_id,
                    action=request.name,
                    model_point=at.model if at else None,
                    native_point=at.native if at else None,
                    text=request.text,
                    started=note.started,
                    ended=self.last_activity,
                    changed_fraction=note.changed_fraction,
                    error=note.error,
                    timings=dict(stages.taken),
                    frames=note.frames,
                )
            )

    async def _perform_all(
        self, batch: BatchRequest, caller: Caller, stages: Stages
    ) -> list[Outcome | ActionFailed]:
        results: list[Outcome | ActionFailed] = []
        for request in batch.actions:
            own = Stages(self._clock)
            try:
                with self._recorded(request, caller, own) as note:
                    outcome = await self._perform(request, caller, own)
                    note.frames = ("", outcome.frame_id)
                    results.append(self._discretion.told(request, outcome, note.started))
            except ActionFailed as error:
                results.append(error)
                break
            finally:
                stages.taken["act"] = stages.taken.get("act", 0.0) + sum(own.taken.values())
        return results

    async def _perform(self, request: ActionRequest, caller: Caller, stages: Stages) -> Outcome:
        with stages.stage("act"):
            await self._discretion.admit(request.action)
            try:
                await self._strokes(request, caller)
                point = await self._point(request)
            except (UntypableText, ActionFailed) as error:
                raise ActionFailed(ACTIONS[request.name].failed, str(error)) from error
        if not isinstance(request.action, Wait | CursorPosition | Screenshot):
            self._eyes.stirred()
        shot = None
        if isinstance(request.action, Screenshot) and request.observe is None:
            shot = await self._eyes.picture(picture_of(request, self.size), stages)
            self._floor.look()
        shown = await self._eyes.frame_id()
        return outcome_of(request, self.size, point, shown, shot, stages.taken)

    async def _strokes(self, request: ActionRequest, caller: Caller) -> None:
        action = request.action
        position = Point(0, 0)
        if isinstance(action, MouseMove) and action.seconds:
            position = await self._do(self._hands.position)
        try:
            for batch in batches(plan(action, position)):
                if isinstance(batch, Pause):
                    await self._sleep(batch.seconds)
                else:
                    # Somebody may have taken over since the last stroke.
                    self._floor.admit(caller.chat_id)
                    await self._do(partial(self._hands.perform, batch))
        except BaseException:
            with suppress(DesktopError):
                await self.release_all()
            raise

    async def _point(self, request: ActionRequest) -> ActionPoint | None:
        if isinstance(request.action, CursorPosition):
            position = await self._do(self._hands.position)
            return pointer_point(position, request.space, self.size)
        return request.point

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


@dataclass
class _Note:
    started: float
    changed_fraction: float | None = None
    frames: tuple[str, str] = ("", "")
    error: str | None = None


def _clicks(request: ActionRequest) -> bool:
    return isinstance(request.action, Click)
