"""Actions of the desktop for the members that are input: mouse, keyboard and waits. Pure.

The desktop's own route performs them, so that people see them, and lease, approvals and recording
hold as for any other action. Points are native pixels of the screen.
"""

from typing import Any

from deskhand.desktop.geometry import Point

from .members import BrowserCall

Json = dict[str, Any]

USUAL_NOTCHES = 3
_DONE = {
    "left_click": "Clicked.",
    "right_click": "Clicked with the right button.",
    "middle_click": "Clicked with the middle button.",
    "double_click": "Clicked twice.",
    "triple_click": "Clicked three times.",
    "hover": "Moved the pointer there.",
    "mouse_move": "Moved the pointer.",
    "left_mouse_down": "The left button is down.",
    "left_mouse_up": "The left button is up.",
    "left_click_drag": "Dragged.",
    "type": "Typed.",
}
OBSERVE: Json = {"screenshot": False, "settle": {"quiet_ms": 100, "max_ms": 3000}}
"""How the desktop observes the end of the actions of one call."""


def desktop_actions(call: BrowserCall, points: dict[str, Point]) -> list[Json]:
    """Return the actions for a member; ``points`` are those of its fields, on the screen.

    They are one batch, which is observed at its end.
    """
    fields, at = call.fields, {name: [*point] for name, point in points.items()}
    action: Json
    match call.name:
        case "hover" | "mouse_move":
            action = {"action": "mouse_move", "coordinate": at["target"]}
        case "left_mouse_down" | "left_mouse_up":
            there = {"action": "mouse_move", "coordinate": at.get("target")}
            return [*([_native(there)] if at else []), {"action": call.name}]
        case "left_click_drag":
            action = {"action": call.name, "start_coordinate": at["from"]}
            action["coordinate"] = at["target"]
        case "scroll":
            action = {"action": "scroll", "coordinate": at["target"]}
            action["scroll_direction"] = fields["scroll_direction"]
            action["scroll_amount"] = fields.get("scroll_amount", USUAL_NOTCHES)
        case "key":
            action = {"action": "key", "text": " ".join([fields["text"]] * fields.get("repeat", 1))}
        case "type" | "hold_key" | "wait":
            named = ("text", "duration")
            action = {"action": call.name} | {n: fields[n] for n in named if n in fields}
        case _:
            modifiers = {"text": fields["modifiers"]} if "modifiers" in fields else {}
            action = {"action": call.name, "coordinate": at["target"], **modifiers}
    return [_native(action)]


def sentence(call: BrowserCall, answer: Json) -> str:
    """Return what was done, for the model; ``answer`` is that of the last action."""
    fields = call.fields
    if call.name == "scroll":
        done = f"Scrolled {fields['scroll_direction']}."
    elif call.name == "key":
        done = f"Pressed {fields['text']}."
    elif call.name == "hold_key":
        done = f"Held {fields['text']} for {fields['duration']:g} s."
    elif call.name == "wait":
        done = f"Waited {fields['duration']:g} s."
    else:
        done = _DONE[call.name]
    fraction = answer.get("changed_fraction")
    if fraction is None or call.name == "wait":
        return done
    share = f"{fraction:.0%}".replace("%", " %") if fraction >= 0.01 else ""
    changed = share or ("Less than 1 %" if fraction else "Nothing")
    return f"{done} {changed} of the screen changed."


def _native(action: Json) -> Json:
    points = "coordinate" in action
    return {**action, "coordinate_space": "native"} if points else action
