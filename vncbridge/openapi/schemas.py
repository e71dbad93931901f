"""Builders of JSON Schemas. A schema that has a name becomes a component of the document."""

from collections.abc import Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

Json = dict[str, Any]

COMPONENT = "x-component"
"""Member with a schema's name; `document.describe` moves the schema to the components."""

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number"}
INTEGER: Json = {"type": "integer"}
COUNT: Json = {"type": "integer", "minimum": 0}
FLAG: Json = {"type": "boolean"}
ANY_OBJECT: Json = {"type": "object", "additionalProperties": True}
_SIMPLE: Mapping[Any, Json] = {str: TEXT, float: NUMBER, int: INTEGER, bool: FLAG}


def component(name: str, schema: Json) -> Json:
    """Return a schema with the name that it has among the components."""
    return {**schema, COMPONENT: name}


def reference(name: str) -> Json:
    """Return a reference to a component; needed inside of the component itself only."""
    return {"$ref": f"#/components/schemas/{name}"}


def described(schema: Json, description: str) -> Json:
    """Return a schema with a description."""
    return {**schema, "description": description}


def array(items: Json) -> Json:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def mapping(values: Json) -> Json:
    """Return the schema of an object whose members have any names."""
    return {"type": "object", "additionalProperties": values}


def enum(name: str, *values: str) -> Json:
    """Return the schema of one of several texts."""
    return component(name, {"type": "string", "enum": list(values)})


def nullable(schema: Json) -> Json:
    """Return the schema of a value that may be null."""
    if COMPONENT in schema or "$ref" in schema:
        return {"oneOf": [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def record(
    name: str, needed: Mapping[str, Json], optional: Mapping[str, Json] | None = None
) -> Json:
    """Return the component of an object; the members ``needed`` are always present.

    Further members may be added in later versions, so that they are permitted.
    """
    properties = {**needed, **(optional or {})}
    schema: Json = {"type": "object", "properties": properties}
    return component(name, {**schema, "required": list(needed)} if needed else schema)


def record_of(name: str, cls: type, **other: Json) -> Json:
    """Return the component of a dataclass in the form of `dataclasses.asdict`.

    ``other`` are the members that are no fields, or have another schema than their annotation.
    """
    hints = get_type_hints(cls)
    own = {
        field.name: other[field.name] if field.name in other else of_type(hints[field.name])
        for field in fields(cls)
    }
    return record(name, {**own, **other})


def of_type(hint: Any) -> Json:
    """Return the schema of a type annotation; raises KeyError for one without a schema."""
    if get_origin(hint) is UnionType:
        (only,) = (one for one in get_args(hint) if one is not NoneType)
        return nullable(of_type(only))
    if get_origin(hint) is tuple:
        return array(of_type(get_args(hint)[0]))
    if get_origin(hint) is dict:
        return ANY_OBJECT
    return _SIMPLE[hint]
