"""Translation of a step into calls of the chat's tools. Pure."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from deskhand.tools.playbooks.playbook import (
    Check,
    FileCheck,
    PlaybookStep,
    Point,
    StepWait,
    Target,
)
from deskhand.tools.playbooks.texts import filled

Json = dict[str, Any]

COMPUTER = "computer"
"""The toolset of the desktop."""
EXECUTE_SECONDS = 120
_CLICKS = {
    "click": "left_click",
    "double_click": "double_click",
    "triple_click": "triple_click",
    "right_click": "right_click",
    "middle_click": "middle_click",
}


@dataclass(frozen=True)
class PlannedCall:
    """One call of a tool, without its id."""

    name: str
    arguments: Json
    toolset: str | None = None


def computer_call(name: str, **arguments: Any) -> PlannedCall:
    """Return a call of the computer toolset; arguments that are None or empty are left out."""
    given = {key: value for key, value in arguments.items() if value not in (None, "")}
    return PlannedCall(name, given, COMPUTER)


def calls_of(
    step: PlaybookStep, point: Point | None, end: Point | None, middle: Point
) -> tuple[PlannedCall, ...]:
    """Return the calls that perform a step; a step that only waits has none.

    ``point`` and ``end`` are where its targets were found, ``middle`` is that of the screen.
    """
    at = None if point is None else list(point)
    holding = step.holding
    match step.action:
        case "hover":
            return (computer_call("mouse_move", coordinate=at),)
        case "drag":
            return (
                computer_call(
                    "left_click_drag",
                    start_coordinate=at,
                    coordinate=None if end is None else list(end),
                    text=holding,
                ),
            )
        case "type":
            return (*_entered(step, at), *_typed(step))
        case "type_secret":
            return (*_entered(step, at), PlannedCall("type_secret", {"name": step.secret}))
        case "key":
            click = () if at is None else (computer_call("left_click", coordinate=at),)
            return (*click, computer_call("key", text=step.keys))
        case "scroll":
            return (
                computer_call(
                    "scroll",
                    coordinate=at or list(middle),
                    scroll_direction=step.direction,
                    scroll_amount=step.amount,
                    text=holding,
                ),
            )
        case "open_url":
            return (opening(step.url),)
        case "execute":
            return (
                PlannedCall("execute", {"command": step.command, "timeout": f"{EXECUTE_SECONDS}s"}),
            )
        case "wait":
            return ()
    return (computer_call(_CLICKS[step.action], coordinate=at, text=holding),)


def opening(url: str) -> PlannedCall:
    """Return the call that opens an address in the browser of the desktop."""
    command = f"xdg-open {shlex.quote(url)}"
    return PlannedCall("execute", {"command": command, "run_in_background": True})


def starting(command: str) -> PlannedCall:
    """Return the call that starts an application."""
    return PlannedCall("execute", {"command": command, "run_in_background": True})


def seeking(middle: Point, direction: str, notches: int) -> PlannedCall:
    """Return the call that scrolls in search of a target."""
    return computer_call(
        "scroll", coordinate=list(middle), scroll_direction=direction, scroll_amount=notches
    )


def _entered(step: PlaybookStep, at: list[int] | None) -> tuple[PlannedCall, ...]:
    """Return the calls that put the cursor where the text goes."""
    click = () if at is None else (computer_call("left_click", coordinate=at),)
    if step.replaces:
        return (*click, computer_call("key", text="ctrl+a"))
    # A click puts the cursor where it hits the text: the new text belongs behind it.
    return (*click, computer_call("key", text="ctrl+End")) if click else ()


def _typed(step: PlaybookStep) -> tuple[PlannedCall, ...]:
    if step.text:
        return (computer_call("type", text=step.text),)
    return (computer_call("key", text="BackSpace"),) if step.replaces else ()


def filled_step(step: PlaybookStep, values: Mapping[str, str]) -> PlaybookStep:
    """Return the step with the values of the parameters in its texts."""

    def text(value: str) -> str:
        return filled(value, values)

    return replace(
        step,
        intent=text(step.intent),
        target=filled_target(step.target, values),
        to=filled_target(step.to, values),
        text=None if step.text is None else text(step.text),
        keys=text(step.keys),
        url=text(step.url),
        command=text(step.command),
        wait=filled_wait(step.wait, values),
    )


def filled_target(target: Target | None, values: Mapping[str, str]) -> Target | None:
    """Return the target with the values of the parameters in its texts."""
    if target is None:
        return None
    near = tuple(filled(one, values) for one in target.near)
    return replace(target, name=filled(target.name, values), near=near)


def filled_wait(wait: StepWait | None, values: Mapping[str, str]) -> StepWait | None:
    """Return the wait with the values of the parameters in its texts."""
    if wait is None:
        return None
    return replace(
        wait,
        text=filled(wait.text, values),
        window=filled(wait.window, values),
        url=filled(wait.url, values),
        file=filled(wait.file, values),
    )


def filled_check(check: Check, values: Mapping[str, str]) -> Check:
    """Return the check with the values of the parameters in its texts."""
    file = check.file
    if file is not None:
        contains = None if file.contains is None else filled(file.contains, values)
        file = FileCheck(filled(file.path, values), contains, file.sha256)
    return replace(
        check,
        text=filled(check.text, values),
        window=filled(check.window, values),
        url=filled(check.url, values),
        file=file,
    )
