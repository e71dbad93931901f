"""JSON Schema of the action requests, built from the table of actions."""

from collections.abc import Mapping
from typing import Any

from deskhand.desktop.fields import Json
from deskhand.desktop.geometry import Size
from deskhand.vncbridge.openapi.schemas import component, enum, reference

from .catalog import ACTIONS, ActionKind
from .fields import FIELDS
from .requests import LONGEST_BATCH, LONGEST_SETTLE, MOST_IGNORED, SMALLEST_PICTURE, SPACES

_SCALED: Json = {"type": "integer", "minimum": SMALLEST_PICTURE}
SPACE: Json = {
    "coordinate_space": {
        **enum("CoordinateSpace", *SPACES),
        "description": "Pixels of all points, regions and pictures of this request.",
    },
    "scaled_width": {**_SCALED, "description": "Own size instead; goes with scaled_height."},
    "scaled_height": _SCALED,
}
SPACE_RULES: Json = {
    "dependentRequired": {
        "scaled_width": ["scaled_height"],
        "scaled_height": ["scaled_width"],
    },
    "dependentSchemas": {"scaled_width": {"not": {"required": ["coordinate_space"]}}},
}
"""Members of a schema with the properties of `SPACE`: a size has two sides, and excludes a name."""
_REF: Json = {
    "type": "string",
    "description": "Of the newest accessibility tree, instead of a coordinate: its middle.",
}
_ENUMS = {"format": "ImageFormat", "scroll_direction": "ScrollDirection"}


def _schema_of(field: str) -> Json:
    schema = FIELDS[field].schema
    return component(_ENUMS[field], schema) if field in _ENUMS else schema


_PICTURE: Json = {name: _schema_of(name) for name in ("format", "quality", "cursor", "since")}
_MILLISECONDS: Json = {"type": "integer", "minimum": 0, "maximum": LONGEST_SETTLE}
_SETTLE: Json = component(
    "Settle",
    {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "quiet_ms": {
                **_MILLISECONDS,
                "description": "By default 100, and 50 while little was painted.",
            },
            "max_ms": {**_MILLISECONDS, "default": 3000},
            "ignore": {
                "type": "array",
                "items": FIELDS["region"].schema,
                "maxItems": MOST_IGNORED,
                "description": "Regions whose repainting does not count.",
            },
        },
    },
)
_OBSERVE: Json = component(
    "Observe",
    {
        "type": "object",
        "description": "Wait until the screen rests after the action, and answer with its picture.",
        "additionalProperties": False,
        "properties": {
            "screenshot": {"type": "boolean", "default": True},
            "settle": _SETTLE,
            "targets": {
                "type": "boolean",
                "default": False,
                "description": "Answer with what the action was aimed at, as it was before it.",
            },
            **_PICTURE,
        },
    },
)


def action_schema() -> Json:
    """Return the schema of the body of ``POST /action``."""
    return _union("Action", "Action", {"observe": _OBSERVE})


def batch_schema() -> Json:
    """Return the schema of the body of ``POST /actions``."""
    return component(
        "Batch",
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["actions"],
            **SPACE_RULES,
            "properties": {
                "actions": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": LONGEST_BATCH,
                    "items": _union("BatchedAction", "InBatch", {}),
                },
                "observe": _OBSERVE,
                **SPACE,
            },
        },
    )


def screenshot_parameters() -> list[Json]:
    """Return the query parameters of ``GET /screenshot``."""
    region = {
        "type": "string",
        "pattern": "^-?[0-9]{1,15}(,-?[0-9]{1,15}){3}$",
        "description": "Part of the screen as x1,y1,x2,y2, half open; it has to hold a pixel.",
    }
    return query_parameters({"region": region, **_PICTURE, **SPACE})


def sized(description: Any, native: Size) -> Any:
    """Return a part of the OpenAPI document with the largest scaled size for a screen."""
    if isinstance(description, list):
        return [sized(item, native) for item in description]
    if not isinstance(description, dict):
        return description
    inner = {name: sized(item, native) for name, item in description.items()}
    for name, most in (("scaled_width", native.width), ("scaled_height", native.height)):
        if inner.get("name") == name:
            inner["schema"] = {**inner["schema"], "maximum": most}
        # The same names are keys of `dependentRequired`, with lists as values.
        elif isinstance(inner.get(name), dict) and "minimum" in inner[name]:
            inner[name] = {**inner[name], "maximum": most}
    return inner


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
    """Return the schema of an object with exactly one of two members.

    Generators of clients read a `oneOf` as a union of types, and ignore `if`.
    """
    return {
        "if": {"required": [first]},
        "then": {"not": {"required": [second]}},
        "else": {"required": [second]},
    }


def _union(union: str, suffix: str, extra: Json) -> Json:
    """Return the component of any action; that of each has its name and the suffix."""
    names = {name: f"{name.title().replace('_', '')}{suffix}" for name in ACTIONS}
    variants = [
        component(names[name], _variant(name, kind, extra)) for name, kind in ACTIONS.items()
    ]
    mapping = {name: reference(variant)["$ref"] for name, variant in names.items()}
    discriminator = {"propertyName": "action", "mapping": mapping}
    return component(union, {"oneOf": variants, "discriminator": discriminator})


def _variant(name: str, kind: ActionKind, extra: Mapping[str, Json]) -> Json:
    fields = {field: _schema_of(field) for field in (*kind.needs, *kind.takes)}
    needs = ["action", *kind.needs]
    # A ref of the accessibility tree may stand in the place of a coordinate: the routes replace it
    # before the parser reads the body.
    which: Json = {}
    if "coordinate" in fields:
        fields["ref"] = _REF
        which = {"not": {"required": ["coordinate", "ref"]}}
    if "coordinate" in needs:
        needs.remove("coordinate")
        which = either("ref", "coordinate")
    return {
        "type": "object",
        "description": kind.summary,
        "additionalProperties": False,
        "required": needs,
        **which,
        **SPACE_RULES,
        "properties": {"action": {"const": name}, **fields, **extra, **SPACE},
    }
