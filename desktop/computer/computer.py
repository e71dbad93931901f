"""One computer: performs actions in order and observes their effect.

A request passes four stages, each timed for the reply: *act* (input events), *settle* (wait until
the screen rests), *capture* and *encode* (the screenshot). Invariants:

- Actions run one at a time in order of arrival; a queue of 32 bounds what waits. Screenshots wait
  for no action.
- Access is checked when an action's turn comes, again before every batch of input events, and again
  before a screenshot leaves: a person may take control at any moment.
- An action that fails or is cancelled leaves no key or button pressed.
- Input events are sent from one thread and frames are read from another, so an X server that hangs
  blocks neither the event loop nor the release of keys.
- Every action ends as one `ActionRecord`, whatever became of it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Protocol, Self, TypeVar

from deskhand.desktop.actions.catalog import (
    ACTIONS,
    Action,
    ActionRecord,
    Click,
    CursorPosition,
    Screenshot,
    Scroll,
    Type,
    Wait,
)
from deskhand.desktop.actions.plan import batches, moves_along, plan
from deskhand.desktop.actions.points import ActionPoint, pointer_point
from deskhand.desktop.actions.requests import ActionRequest, BatchRequest, picture_of
from deskhand.desktop.errors import ActionFailed, DesktopError, QueueFull, UntypableText, Withheld
from deskhand.desktop.geometry import Point, Size
from deskhand.desktop.input.events import InputEvent, Pause
from deskhand.desktop.lease.access import AccessControl, UnrestrictedAccess, is_read_only
from deskhand.desktop.screenshots.options import View, view
from deskhand.desktop.tool_calls.caller import Caller

from .observer import FocusSource, Observer, Screen, ScreenshotRenderer, Stages
from .outcomes import NOWHERE, ActionNote, BatchOutcome, Outcome, ScreenshotResult, outcome_of
from .progress import NO_PROGRESS, ActionProgress
from .target_source import NoTargets, TargetSource, targets_of
from .typing_policy import TypingPolicy

T = TypeVar("T")


class InputDevice(Protocol):
    """Sends input events. Blocking; called from one thread only."""

    def perform(self, events: Sequence[InputEvent]) -> None:
        """Send events, none of them a pause, and return when the display has processed them.

        Raises:
            UntypableText: If the keyboard has no room for a character.
            ActionFailed: If the display refuses an event.
        """

    def release_all(self) -> None:
        """Release every key and button that is still pressed."""

    def position(self) -> Point:
        """Return the position of the pointer, in native pixels."""

    def holds_button(self) -> bool:
        """Return True while a button that ``perform`` pressed is down."""


class Computer:
    """Performs actions one at a time, in order of arrival, and observes the result.

    Cancelling an action releases every key and button. An async context manager; it owns two
    threads, one for input and one for screenshots.
    """

    def __init__(
        self,
        screen: Screen,
        device: InputDevice,
        renderer: ScreenshotRenderer,
        record: Callable[[ActionRecord], None],
        *,
        instance_id: str,
        boot: str | None = None,
        access: AccessControl | None = None,
        windows: FocusSource | None = None,
        typing_policy: TypingPolicy | None = None,
        queue: int = 32,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.instance_id = instance_id
        self.observer = Observer(screen, renderer, boot or instance_id, clock, windows)
        self._device = device
        self._record = record
        self._access = access or UnrestrictedAccess()
        self._typing_policy = typing_policy or TypingPolicy()
        self._queue = queue
        self._clock, self._sleep = clock, sleep
        self._order = asyncio.Lock()
        self._waiting = 0
        # One thread, so that events of two actions never interleave.
        self._thread = ThreadPoolExecutor(1, "input")
        self.targets: TargetSource = NoTargets()
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
        return self.observer.size

    async def close(self) -> None:
        """Release all keys and buttons and end the threads; closing twice is fine."""
        try:
            with suppress(DesktopError, RuntimeError):
                await self.release_all()
        finally:
            self.targets.close()
            self._thread.shutdown(wait=False)
            self.observer.close()

    async def release_all(self) -> None:
        """Release every key and button, after the events that are being sent now."""
        # A cancelled caller must not leave keys pressed.
        await asyncio.shield(self._do(self._device.release_all))

    async def _try_release(self) -> None:
        with suppress(DesktopError):
            await self.release_all()

    def release_soon(self) -> None:
        """Release every key and button before any event that is sent after this call."""
        # The executor refuses work once it is shut down; close has released everything by then.
        with suppress(RuntimeError):
            self._thread.submit(self._device.release_all)

    async def pointer(self) -> Point:
        """Return the position of the pointer, in native pixels.

        Raises:
            Occupied: If a person is in control in privacy mode, also since the call.
            DisplayGone: If there is no display.
        """
        self._access.check_view()
        found = await self._do(self._device.position)
        self._access.check_view()
        return found

    async def act(
        self, request: ActionRequest, caller: Caller, journal: ActionProgress = NO_PROGRESS
    ) -> Outcome:
        """Perform one action when its turn has come.

        Cancelling it releases what it pressed.

        Raises:
            QueueFull: If too many actions wait already.
            Occupied: If a person or another chat acts, or takes over meanwhile.
            ActionFailed: If the action began and failed; then nothing stays pressed.
            DisplayGone: If there is no display to act on.
        """
        stages = Stages(self._clock)

        async def act() -> Outcome:
            # Recorded before the first event leaves: after a crash a repeat of the call is answered
            # "unknown" instead of being performed a second time.
            journal.began()
            outcome = await self._perform(request, caller, stages)
            journal.ended(outcome)
            return outcome

        async with self._turn(request, caller):
            with self._recorded(request, caller, stages) as note:
                if request.observe is None:
                    outcome = await act()
                    if isinstance(request.action, Screenshot) and caller.chat_id:
                        self.targets.prefetch()
                    note.frames = ("", outcome.frame_id)
                    return self._typing_policy.with_redacted_text(request, outcome, note.started)
                picture = picture_of(request, self.size)
                with stages.stage("capture"):
                    targets = await targets_of(request, self.targets)
                outcome, seen = await self.observer.watched(
                    act, request.observe, picture, stages, clicks=_clicks(request)
                )
                if request.observe.targets:
                    self.targets.prefetch()
                # A person may have taken control in privacy mode while the screen settled.
                self._access.check_view()
                note.changed_fraction = seen.changes.fraction
                note.frames = (seen.frame_before, seen.frame_id)
                outcome = replace(outcome, observation=replace(seen, targets=targets))
                return self._typing_policy.with_redacted_text(request, outcome, note.started)

    async def batch(
        self, batch: BatchRequest, caller: Caller, journal: ActionProgress = NO_PROGRESS
    ) -> BatchOutcome:
        """Perform actions in order up to the first that fails, and observe once at the end.

        Raises:
            QueueFull: If too many actions wait already.
            Occupied: If a person or another chat acts, or takes over meanwhile.
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
                frame_id=await self.observer.frame_id(),
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
            outcome, seen = await self.observer.watched(
                act, batch.observe, picture, stages, clicks=clicks
            )
            self._access.check_view()
            return replace(outcome, frame_id=seen.frame_id, observation=seen)

    async def picture(self, wanted: View, known: Container[str] = ()) -> ScreenshotResult:
        """Take a screenshot without waiting for actions; ``known`` are ETags the caller has.

        Raises:
            HumanInControl: While a person has control in privacy mode.
        """
        self._access.check_view()
        shot = await self.observer.picture(wanted, Stages(self._clock), known)
        self._access.check_view()
        return shot

    @asynccontextmanager
    async def _turn(
        self, request: ActionRequest | BatchRequest, caller: Caller
    ) -> AsyncIterator[None]:
        if self._waiting >= self._queue:
            raise QueueFull(self._queue)
        # Counted before waiting and until the turn comes: an action that runs does not count as
        # waiting.
        self._waiting += 1
        try:
            await self._order.acquire()
        finally:
            self._waiting -= 1
        try:
            self._access.check_view()
            # A request that changes nothing needs no right to act, but it waits for its place in
            # the order, so that it sees the effect of the actions before it.
            if is_read_only(request):
                yield
                return
            with self._access.acting(caller.chat_id):
                try:
                    yield
                # Also between two events: a key that an action of a batch holds down for the next.
                except asyncio.CancelledError:
                    await self._try_release()
                    raise
        finally:
            self._order.release()

    @contextmanager
    def _recorded(
        self, request: ActionRequest, caller: Caller, stages: Stages
    ) -> Iterator[ActionNote]:
        note = ActionNote(self._clock())
        try:
            yield note
        except DesktopError as error:
            note.error = str(error)
            raise
        except asyncio.CancelledError:
            note.error = "cancelled"
            raise
        finally:
            # Failures and cancellations are recorded too: the recording must show every step.
            self.last_activity = self._clock()
            at = request.point
            self._record(
                ActionRecord(
                    tool_call_id=caller.tool_call_id,
                    chat_id=caller.chat_id,
                    tool=caller.tool,
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
            # Each action has its own timings; the batch's own stage "act" is their sum.
            own = Stages(self._clock)
            try:
                with self._recorded(request, caller, own) as note:
                    outcome = await self._perform(request, caller, own)
                    note.frames = ("", outcome.frame_id)
                    results.append(
                        self._typing_policy.with_redacted_text(request, outcome, note.started)
                    )
            except ActionFailed as error:
                # The rest is skipped, and the reply counts it: an action that depends on a failed
                # one does harm.
                results.append(error)
                break
            finally:
                stages.taken["act"] = stages.taken.get("act", 0.0) + sum(own.taken.values())
        return results

    async def _perform(self, request: ActionRequest, caller: Caller, stages: Stages) -> Outcome:
        with stages.stage("act"):
            try:
                types = isinstance(request.action, Type)
                nowhere = types and await self.observer.nothing_focused()
                send = partial(self._send, caller)
                check = partial(self._access.check_act, caller.chat_id)
                host = await self._typing_policy.perform(request.action, send, check)
                # A window may have got the keyboard meanwhile, and some of the text.
                nowhere = nowhere and await self.observer.nothing_focused()
                point = await self._point(request)
            except Withheld:
                raise
            except (UntypableText, ActionFailed) as error:
                raise ActionFailed(ACTIONS[request.name].failed, str(error)) from error
        # Damage that follows at once belongs to this action, though no observation watched it.
        if not isinstance(request.action, Wait | CursorPosition | Screenshot):
            self.observer.note_action()
        shot = None
        if isinstance(request.action, Screenshot) and request.observe is None:
            shot = await self.observer.picture(picture_of(request, self.size), stages)
            self._access.check_view()
        shown = await self.observer.frame_id()
        outcome = outcome_of(request, self.size, point, shown, shot, stages.taken)
        if nowhere:
            return replace(outcome, output=NOWHERE, nothing_focused=True)
        return replace(outcome, typed_into=host)

    async def _send(self, caller: Caller, action: Action) -> None:
        send = partial(self._send_events, caller)
        if isinstance(action, Scroll):
            action = await self.observer.begun_scroll(action, send)
        await send(action)

    async def _send_events(self, caller: Caller, action: Action) -> None:
        # Only motion in steps starts where the pointer is; reading its position costs a round trip.
        position = Point(0, 0)
        held = moves_along(action, held=True) and await self._do(self._device.holds_button)
        if moves_along(action, held):
            position = await self._do(self._device.position)
        try:
            for batch in batches(plan(action, position, held)):
                if isinstance(batch, Pause):
                    await self._sleep(batch.seconds)
                else:
                    # A person may have taken control since the last batch of events.
                    self._access.check_act(caller.chat_id)
                    await self._do(partial(self._device.perform, batch))
        except asyncio.CancelledError:
            raise  # Its turn ends with a release.
        except BaseException:
            await self._try_release()
            raise

    async def _point(self, request: ActionRequest) -> ActionPoint | None:
        if isinstance(request.action, CursorPosition):
            position = await self._do(self._device.position)
            return pointer_point(position, request.space, self.size)
        return request.point

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _clicks(request: ActionRequest) -> bool:
    return isinstance(request.action, Click)
