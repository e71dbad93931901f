"""Whatever is sent is answered, and nothing stays pressed that was not left down on purpose."""

import asyncio
import json
from contextlib import suppress
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from deskhand.desktop.actions.catalog import ACTIONS
from deskhand.desktop.actions.fields import FIELDS
from deskhand.desktop.actions.requests import action_request, batch_request, decode
from deskhand.desktop.computer.outcomes import batch_json, outcome_json
from deskhand.desktop.errors import ForeignHost, InvalidAction
from deskhand.desktop.input.events import (
    ButtonPress,
    ButtonRelease,
    InputEvent,
    KeyPress,
    KeyRelease,
)
from deskhand.desktop.tool_calls.caller import Caller
from tests.desktop.computer.test_computer import fake_desktop
from tests.desktop.fakes import NATIVE

CALLER = Caller("call", "chat")
LEFT_DOWN = {"key_down", *(name for name in ACTIONS if name.endswith("_mouse_down"))}

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
small = st.integers(-50, 2000)
points = st.tuples(small, small).map(list)
likely: dict[str, st.SearchStrategy[Any]] = {
    "text": st.sampled_from(["a", "ctrl+s", "F5", "語", "Hi\n", "shift", ""]) | st.text(max_size=9),
    "coordinate": points,
    "start_coordinate": points,
    "path": st.lists(points, min_size=1, max_size=5),
    "modifiers": st.lists(st.sampled_from(["ctrl", "alt", "shift", "x"]), max_size=3),
    "button": st.sampled_from(["left", "right", "back", "wheel"]),
    "duration": st.floats(0, 2) | st.integers(-1, 400),
    "duration_ms": st.integers(0, 2000),
    "delay_ms": st.integers(0, 50),
    "scroll_direction": st.sampled_from(["up", "down", "left", "right", "in"]),
    "scroll_amount": st.integers(-1, 20),
    "scroll_pixels": st.integers(-1, 500),
    "scroll_x": st.integers(-500, 500),
    "scroll_y": st.integers(-500, 500),
    "region": st.tuples(small, small, small, small).map(list),
    "coordinate_space": st.sampled_from(["model", "native", "normalized_1000", "own"]),
    "scaled_width": st.integers(0, 2000),
    "scaled_height": st.integers(0, 1200),
    "format": st.sampled_from(["png", "jpeg", "webp", "gif"]),
    "quality": st.integers(0, 101),
    "cursor": st.booleans(),
    "since": st.just("boot-0"),
    "hosts": st.just(["example.com"]),
    "protected": st.booleans(),
    "any_field": st.booleans(),
    "observe": st.booleans() | st.just({"settle": {"max_ms": 50}}) | st.just({"screenshot": False}),
}
names = st.sampled_from(sorted(ACTIONS))


@st.composite
def actions(draw: st.DrawFn) -> dict[str, Any]:
    """A request that is often right, and of any kind else."""
    name = draw(names | names | names | st.text(max_size=5))
    kind = ACTIONS.get(name)
    wanted = (*kind.needs, *kind.takes, "observe") if kind else tuple(FIELDS)
    body: dict[str, Any] = {"action": name}
    for field in wanted:
        if draw(st.booleans()) or (kind and field in kind.needs):
            body[field] = draw(likely[field] if draw(st.integers(0, 9)) else anything)
    if draw(st.integers(0, 3)) == 0:
        field = draw(st.sampled_from(sorted(likely)))
        body[field] = draw(likely[field])
    return body


def held(events: list[InputEvent]) -> set[object]:
    down: set[object] = set()
    for event in events:
        match event:
            case KeyPress(symbol):
                down.add(symbol)
            case KeyRelease(symbol):
                down.discard(symbol)
            case ButtonPress(button):
                down.add(("button", button))
            case ButtonRelease(button):
                down.discard(("button", button))
    return down


@settings(derandomize=True, max_examples=120, deadline=None)
@given(actions())
@example({"action": "type", "text": "a", "hosts": ["example.com"]})
def test_any_action_is_done_or_refused(body: dict[str, Any]) -> None:
    async def scenario() -> None:
        async with asyncio.timeout(20), fake_desktop() as d:
            try:
                asked = action_request(decode(json.dumps(body).encode()), NATIVE)
            except InvalidAction:
                assert d.input.done == []
                return
            try:
                outcome = await d.computer.act(asked, CALLER)
            except ForeignHost:
                # A text for the pages of some hosts, and no page has the keyboard.
                assert d.input.done == []
                return
            assert json.dumps(outcome_json(outcome, "instance"))
            assert asked.name in LEFT_DOWN or not held(d.input.done)

    asyncio.run(scenario())


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.lists(actions(), max_size=4), anything)
def test_any_batch_is_done_or_refused(some: list[dict[str, Any]], observe: Any) -> None:
    async def scenario() -> None:
        async with asyncio.timeout(20), fake_desktop() as d:
            for action in some:
                action.pop("observe", None)
            body = {"actions": some, "observe": observe}
            try:
                asked = batch_request(decode(json.dumps(body).encode()), NATIVE)
            except InvalidAction:
                assert d.input.done == []
                return
            outcome = await d.computer.batch(asked, CALLER)
            body = batch_json(outcome, "instance")
            assert len(body["results"]) == len(some)
            names = {request.name for request in asked.actions}
            assert names & LEFT_DOWN or not held(d.input.done)

    asyncio.run(scenario())


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.binary() | anything.map(lambda value: json.dumps(value).encode()))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    with suppress(InvalidAction):
        assert isinstance(decode(body), dict)
