"""The input events that perform an action, in native pixels.

A plan never ends with a key or button pressed that the action did not press on purpose. Pauses are
events of their own, so that the caller waits and cancels between events, never inside a batch.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from deskhand.desktop.capture.diff import USUAL_SCROLL
from deskhand.desktop.geometry import Point
from deskhand.desktop.input.events import (
    AwaitDrag,
    AwaitDrop,
    ButtonPress,
    ButtonRelease,
    InputEvent,
    KeyPress,
    KeyRelease,
    Pause,
    PointerMotion,
    Tap,
)
from deskhand.desktop.input.keys import SHIFTS, Chord

from .catalog import (
    Action,
    ButtonDown,
    ButtonUp,
    Click,
    CursorPosition,
    Drag,
    HoldKey,
    Key,
    KeyDown,
    KeyUp,
    MouseMove,
    Screenshot,
    Scroll,
    Type,
    Wait,
)

# Smooth motion that no toolkit mistakes for a jump.
_STEPS_A_SECOND = 60
# Toolkits recognise a drag by intermediate motion: its end alone is a click.
_FEWEST_STEPS = 8
# Browsers handle one motion of each frame, and begin no drag at the first.
_SHORTEST_DRAG = _FEWEST_STEPS / _STEPS_A_SECOND
# Chromium counts clicks with one time stamp, in milliseconds, as one click.
_BETWEEN_CLICKS = 0.02
# The X protocol reports a notch of the wheel as a click of one of these buttons.
_UP, _DOWN, _LEFT, _RIGHT = 4, 5, 6, 7


def moves_along(action: Action, held: bool) -> bool:
    """Return True if the pointer moves in steps from where it is; ``held`` if a button is down."""
    match action:
        case MouseMove(seconds=seconds):
            return held or seconds > 0
        case ButtonDown(at=at) | ButtonUp(at=at):
            return held and at is not None
        case _:
            return False


def plan(action: Action, position: Point, held: bool = False) -> Iterator[InputEvent]:
    """Yield the input events of an action.

    ``position`` is the pointer's, in native pixels; ``held`` if a button of the mouse is down.
    """
    match action:
        case Wait(seconds):
            yield Pause(seconds)
        case CursorPosition() | Screenshot():
            pass
        case Key() | Type() | KeyDown() | KeyUp() | HoldKey():
            yield from _keyboard(action)
        case _:
            yield from _mouse(action, position, held)


def _keyboard(action: Key | Type | KeyDown | KeyUp | HoldKey) -> Iterator[InputEvent]:
    match action:
        case Key(chords):
            for chord in chords:
                yield from _strike(chord)
        case Type(keysyms, delay):
            yield from _typed(keysyms, delay)
        case KeyDown(chord):
            yield from map(KeyPress, chord.keysyms)
        case KeyUp(chord):
            # Released in the reverse order, as a hand does: no key is released under a changed
            # modifier.
            yield from map(KeyRelease, reversed(chord.keysyms))
        case _:
            yield from _held(action.chord.keysyms, [Pause(action.seconds)])


def _mouse(
    action: MouseMove | Click | ButtonDown | ButtonUp | Drag | Scroll,
    position: Point,
    held: bool,
) -> Iterator[InputEvent]:
    match action:
        case MouseMove(to, seconds):
            yield from _moves_to(to, position, seconds, held)
        case Click(at, button, count, modifiers):
            yield PointerMotion(at)
            # The pointer moves before the modifiers are pressed: some applications
            # react to a modifier that is pressed over another widget.
            yield from _held(modifiers, _clicks(button, count))
        case ButtonDown(button, at):
            if at is not None:
                yield from _moves_to(at, position, 0.0, held)
            yield ButtonPress(button)
        case ButtonUp(button, at):
            if at is not None:
                yield from _moves_to(at, position, 0.0, held)
            yield ButtonRelease(button)
        case Drag():
            yield from _drag(action)
        case _:
            yield PointerMotion(action.at)
            yield from _held(action.modifiers, _turns(in_notches(action)))


def first_notches(scroll: Scroll) -> tuple[Scroll, ...]:
    """Return the first notch of each direction of a scroll."""
    right, down = _sign(scroll.right), _sign(scroll.down)
    return tuple(
        replace(scroll, right=x, down=y, in_pixels=False)
        for x, y in ((0, down), (right, 0))
        if x or y
    )


def in_notches(scroll: Scroll, right: int = 0, down: int = 0) -> Scroll:
    """Return a scroll in notches.

    ``right`` and ``down`` are the pixels of one notch to the side and down, 0 where unknown. A
    positive number of pixels is at least one notch.
    """
    if not scroll.in_pixels:
        return scroll
    across, along = (
        _sign(pixels) * max(min(abs(pixels), 1), round(abs(pixels) / (notch or USUAL_SCROLL)))
        for pixels, notch in ((scroll.right, right), (scroll.down, down))
    )
    return replace(scroll, right=across, down=along, in_pixels=False)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _turns(scroll: Scroll) -> Iterator[InputEvent]:
    """Yield the notches, those of two directions mixed evenly."""
    across, along = abs(scroll.right), abs(scroll.down)
    wheels = [
        ((step + 0.5) / across, _RIGHT if scroll.right > 0 else _LEFT) for step in range(across)
    ]
    wheels += [((step + 0.5) / along, _DOWN if scroll.down > 0 else _UP) for step in range(along)]
    for _, wheel in sorted(wheels):
        yield from (ButtonPress(wheel), ButtonRelease(wheel))


def _clicks(button: int, count: int) -> list[InputEvent]:
    click: list[InputEvent] = [ButtonPress(button), ButtonRelease(button)]
    return click + [Pause(_BETWEEN_CLICKS), *click] * (count - 1)


# A batch is sent whole, then the caller may cancel. The keyboard map has room for this many
# foreign symbols at a time.
_BATCH = 80


def batches(events: Iterable[InputEvent], most: int = _BATCH) -> Iterator[list[InputEvent] | Pause]:
    """Split events at their pauses, and long runs into batches of at most ``most``."""
    run: list[InputEvent] = []
    for event in events:
        if isinstance(event, Pause):
            if run:
                yield run
                run = []
            if event.seconds > 0:
                yield event
            continue
        run.append(event)
        if len(run) >= most:
            yield run
            run = []
    if run:
        yield run


def _strike(chord: Chord) -> Iterator[InputEvent]:
    # Tap finds the key and the modifiers of a character itself.
    if SHIFTS.isdisjoint(chord.held):
        yield from _held(chord.held, [Tap(chord.struck)])
    else:
        # With Shift held the caller means the key, not the character on it.
        yield from _held(chord.keysyms, [])


def _typed(keysyms: Iterable[int], delay: float) -> Iterator[InputEvent]:
    for keysym in keysyms:
        yield Tap(keysym)
        if delay:
            yield Pause(delay)


def _held(keysyms: tuple[int, ...], events: Iterable[InputEvent]) -> Iterator[InputEvent]:
    yield from map(KeyPress, keysyms)
    yield from events
    yield from map(KeyRelease, reversed(keysyms))


def _drag(drag: Drag) -> Iterator[InputEvent]:
    yield PointerMotion(drag.path[0])
    moves = _dragged(drag.path, drag.seconds)
    yield from _held(drag.modifiers, [ButtonPress(drag.button), *moves, ButtonRelease(drag.button)])


def _dragged(path: Iterable[Point], seconds: float) -> Iterator[InputEvent]:
    """Yield the motion of a held pointer, up to the point where its target shows itself."""
    *before, last = _moves(path, max(seconds, _SHORTEST_DRAG), fewest=_FEWEST_STEPS)
    # A browser that is late handles the motions so far as one, and begins a drag at the next.
    yield from (*before, AwaitDrag(), last, AwaitDrop())


def _moves_to(to: Point, position: Point, seconds: float, held: bool) -> Iterator[InputEvent]:
    path = (position, to)
    yield from _dragged(path, seconds) if held else _moves(path, seconds, fewest=1)


def _moves(path: Iterable[Point], seconds: float, fewest: int) -> Iterator[InputEvent]:
    legs = [(start, end, math.dist(start, end)) for start, end in pairwise(path)]
    # The steps are divided among the legs by length, so that the speed is constant along the path.
    steps = max(fewest, round(seconds * _STEPS_A_SECOND))
    # A path of equal points has no length.
    length = sum(distance for _, _, distance in legs) or 1.0
    for start, end, distance in legs:
        share = max(1, round(steps * distance / length))
        pause = seconds * distance / length / share
        for step in range(1, share + 1):
            if pause:
                yield Pause(pause)
            yield PointerMotion(_between(start, end, step, share))


def _between(start: Point, end: Point, step: int, steps: int) -> Point:
    # Integer rounding to the nearest pixel, so that the last step is exactly the end.
    x = start.x + (2 * (end.x - start.x) * step + steps) // (2 * steps)
    y = start.y + (2 * (end.y - start.y) * step + steps) // (2 * steps)
    return Point(x, y)
