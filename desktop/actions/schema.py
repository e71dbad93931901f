"""JSON Schema of the action requests, built from the table of actions."""

from .catalog import ACTIONS, ActionKind
from .fields import FIELDS, Json
from .requests import LONGEST_BATCH, LONGEST_SETTLE, MOST_IGNORED, SMALLEST_PICTURE, SPACES

_SCALED: Json = {"type": "integer", "minimum": SMALLEST_PICTURE}
SPACE: Json = {
    "coordinate_space": {
        "type": "string",
        "enum": list(SPACES),
        "description": "Pixels of all points, regions and pictures of this request.",
    },
    "scaled_width": {**_SCALED, "description": "Own size instead; goes with scaled_height."},
    "scaled_height": _SCALED,
}
_REF: Json = {
    "type": "string",
    "description": "Of the newest accessibility tree, instead of a coordinate: its middle.",
}
_PICTURE: Json = {name: FIELDS[name].schema for name in ("format", "quality", "cursor", "since")}
_MILLISECONDS: Json = {"type": "integer", "minimum": 0, "maximum": LONGEST_SETTLE}
_OBSERVE: Json = {
    "type": "object",
    "description": "Wait until the screen rests after the action, and answer with its picture.",
    "additionalProperties": False,
    "properties": {
        "screenshot": {"type": "boolean", "default": True},
        "settle": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "quiet_ms": {**_MILLISECONDS, "default": 100},
                "max_ms": {**_MILLISECONDS, "default": 3000},
                "ignore": {
                    "type": "array",
                    "items": FIELDS["region"].schema,
                    "maxItems": MOST_IGNORED,
                    "description": "Regions whose repainting does not count.",
                },
            },
        },
        **_PICTURE,
    },
}


def action_schema() -> Json:
    """Return the schema of the body of ``POST /action``."""
    return {"oneOf": [_variant(name, kind, {"observe": _OBSERVE}) for name, kind in _kinds()]}


def batch_schema() -> Json:
    """Return the schema of the body of ``POST /actions``."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["actions"],
        "properties": {
            "actions": {
                "type": "array",
                "minItems": 1,
                "maxItems": LONGEST_BATCH,
                "items": {"oneOf": [_variant(name, kind, {}) for name, kind in _kinds()]},
            },
            "observe": _OBSERVE,
            **SPACE,
        },
    }


def screenshot_parameters() -> list[Json]:
    """Return the query parameters of ``GET /screenshot``."""
    region = {
        "type": "string",
        "pattern": "^-?[0-9]{1,15}(,-?[0-9]{1,15}){3}$",
        "description": "Part of the screen as x1,y1,x2,y2, half open; it has to hold a pixel.",
    }
    return query_parameters({"region": region, **_PICTURE, **SPACE})


def query_parameters(schemas: Json) -> list[Json]:
    """Return query parameters, all optional."""
    return [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, schema in schemas.items()
    ]


def json_body(schema: Json, *, needed: bool = True) -> Json:
    """Return the description of a body that a route reads by itself."""
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": needed, "content": content}}


def either(first: str, second: str) -> Json:
    """Return the schema of an object with exactly one of two members."""
    return {"oneOf": [{"required": [first]}, {"required": [second]}]}


def _kinds() -> list[tuple[str, ActionKind]]:
    return list(ACTIONS.items())


def _variant(name: str, kind: ActionKind, extra: Json) -> Json:
    fields = {field: FIELDS[field].schema for field in (*kind.needs, *kind.takes)}
    needs = ["action", *kind.needs]
    # A ref of the accessibility tree may stand in the place of a coordinate: the routes replace it
    # before the parser reads the body.
    either: Json = {}
    if "coordinate" in fields:
        fields["ref"] = _REF
    if "coordinate" in needs:
        needs.remove("coordinate")
        either = {"oneOf": [{"required": ["coordinate"]}, {"required": ["ref"]}]}
    return {
        "type": "object",
        "title": name,
        "description": kind.summary,
        "additionalProperties": False,
        "required": needs,
        **either,
        "properties": {"action": {"const": name}, **fields, **extra, **SPACE},
    }
