"""The description of a wait's request."""

from deskhand.desktop.waiting.conditions import FIELDS
from deskhand.desktop.waiting.schema import BODY


def test_the_schema_has_every_field_that_is_read() -> None:
    schema = BODY["requestBody"]["content"]["application/json"]["schema"]
    assert set(schema["properties"]) == set(FIELDS)
    assert {"required": ["text"]} in schema["anyOf"]
