"""JSON Schema of the body of a browser call. Pure."""

from typing import Any

from .members import ACTION, DIRECTIONS, LONGEST_SECONDS, MEMBERS, MOST_NOTCHES

Json = dict[str, Any]

TARGET: Json = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": ["ref", "coordinate"]},
        "ref": {"type": "string"},
        "x": {"type": "integer"},
        "y": {"type": "integer"},
    },
    "description": 'An element, {"type": "ref", "ref": "ref_7"}, or a point of the picture of the '
    'page, {"type": "coordinate", "x": 10, "y": 20}.',
}

PROPERTIES: Json = {
    ACTION: {"type": "string", "enum": list(MEMBERS)},
    "tab_id": {"type": "string", "description": "Default: the active tab."},
    "url": {"type": "string", "description": "navigate: an address, back, forward or reload."},
    "target": TARGET,
    "from": {**TARGET, "description": "left_click_drag: the point where it begins."},
    "text": {
        "type": "string",
        "description": "type: the text. key, hold_key: keys, as ctrl+a. javascript_exec: an "
        "expression, without return.",
    },
    "modifiers": {"type": "string", "description": "Keys held during a click, as ctrl+shift."},
    "query": {"type": "string", "description": "find: what the elements are, in words."},
    "filter": {
        "type": "string",
        "enum": ["all", "interactive"],
        "description": "read_page: also what is out of view, or only what takes clicks or keys. "
        "Default: what is in view.",
    },
    "depth": {"type": "integer", "description": "read_page: levels of the tree. Default 15."},
    "ref": {"type": "string", "description": "read_page: only below this element."},
    "value": {
        "type": ["string", "number", "boolean"],
        "description": "form_input: the value; true or false for a checkbox.",
    },
    "paths": {
        "type": "array",
        "items": {"type": "string"},
        "description": "file_upload: files of this desktop.",
    },
    "region": {
        "type": "array",
        "items": {"type": "integer"},
        "minItems": 4,
        "maxItems": 4,
        "description": "zoom: [x0, y0, x1, y1] in pixels of the picture of the page.",
    },
    "scroll_direction": {"type": "string", "enum": [*DIRECTIONS]},
    "scroll_amount": {"type": "integer", "description": f"Notches, 1 to {MOST_NOTCHES}."},
    "repeat": {"type": "integer", "description": "key: times."},
    "duration": {
        "type": "number",
        "description": f"wait, hold_key: seconds, at most {LONGEST_SECONDS}.",
    },
}

SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": [ACTION],
    "properties": PROPERTIES,
}
"""The body, which is also the input of the function tool of models without a browser toolset."""
