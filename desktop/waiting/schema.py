"""JSON Schema of a wait's request. Pure."""

from typing import Any

from deskhand.desktop.actions.fields import FIELDS
from deskhand.desktop.actions.schema import SPACE, SPACE_RULES, json_body
from deskhand.vncbridge.openapi.schemas import component

from .conditions import CONDITIONS, LONGEST_QUIET, LONGEST_SECONDS, USUAL_SECONDS

Json = dict[str, Any]

_PROPERTIES: Json = {
    "text": {
        "type": "string",
        "minLength": 1,
        "description": "Part of the name of a visible widget, in any case.",
    },
    "window": {
        "type": "string",
        "minLength": 1,
        "description": "Part of the title of a window, in any case.",
    },
    "changed_region": {
        **FIELDS["region"].schema,
        "description": "Region that shows something else than at the begin, [x1, y1, x2, y2].",
    },
    "quiet_ms": {
        "type": "integer",
        "minimum": 1,
        "maximum": LONGEST_QUIET,
        "description": "Milliseconds in which nothing is painted.",
    },
    "process": {"type": "string", "minLength": 1, "description": "Id of a process that exits."},
    "url": {
        "type": "string",
        "minLength": 1,
        "description": "Part of the URL of a page of the browser.",
    },
}

BODY: Json = json_body(
    component(
        "WaitFor",
        {
            "type": "object",
            "additionalProperties": False,
            "anyOf": [{"required": [name]} for name in CONDITIONS],
            **SPACE_RULES,
            "properties": {
                **_PROPERTIES,
                "timeout_seconds": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": LONGEST_SECONDS,
                    "default": USUAL_SECONDS,
                },
                "screenshot": {"type": "boolean", "default": True},
                **SPACE,
            },
        },
    )
)
"""The description of the body in the OpenAPI document."""
