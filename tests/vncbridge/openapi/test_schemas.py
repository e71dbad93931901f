from dataclasses import dataclass, field
from typing import Any

import pytest

from deskhand.vncbridge.openapi.schemas import (
    ANY_OBJECT,
    COMPONENT,
    COUNT,
    FLAG,
    INTEGER,
    NUMBER,
    TEXT,
    array,
    component,
    described,
    enum,
    mapping,
    nullable,
    of_type,
    record,
    record_of,
    reference,
)


@dataclass
class Person:
    name: str
    age: int | None
    scores: tuple[float, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    alive: bool = True


def test_a_record_needs_its_members_and_permits_others() -> None:
    schema = record("Point", {"x": INTEGER}, {"y": INTEGER})
    assert schema == {
        "type": "object",
        "properties": {"x": INTEGER, "y": INTEGER},
        "required": ["x"],
        COMPONENT: "Point",
    }
    assert "required" not in record("Nothing", {})


def test_a_dataclass_has_the_schema_of_its_fields() -> None:
    schema = record_of("Person", Person, age=COUNT, url=TEXT)
    assert schema["properties"] == {
        "name": TEXT,
        "age": COUNT,
        "scores": array(NUMBER),
        "facts": ANY_OBJECT,
        "alive": FLAG,
        "url": TEXT,
    }
    assert schema["required"] == list(schema["properties"])


def test_a_type_without_a_schema_is_an_error() -> None:
    assert of_type(int | None) == {"type": ["integer", "null"]}
    with pytest.raises(KeyError):
        of_type(bytes)


def test_null_is_one_of_the_types_or_beside_a_component() -> None:
    assert nullable(TEXT) == {"type": ["string", "null"]}
    point = component("Point", {"type": "object"})
    assert nullable(point) == {"oneOf": [point, {"type": "null"}]}
    assert nullable(reference("Point"))["oneOf"][0] == {"$ref": "#/components/schemas/Point"}


def test_the_other_builders() -> None:
    assert mapping(COUNT) == {"type": "object", "additionalProperties": COUNT}
    assert described(FLAG, "Why.") == {"type": "boolean", "description": "Why."}
    assert enum("Kind", "a", "b") == {"type": "string", "enum": ["a", "b"], COMPONENT: "Kind"}
