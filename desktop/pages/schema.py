"""JSON Schema of the body of a browser call. Pure."""

from typing import Any

from .members import ACTION, FIELDS, MEMBERS

Json = dict[str, Any]

PROPERTIES: Json = {
    ACTION: {"type": "string", "enum": list(MEMBERS)},
    # Ids of documents are not known here.
    **{name: one.schema for name, one in FIELDS.items() if name != "document_ids"},
}

SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": [ACTION],
    "properties": PROPERTIES,
}
"""The body, which is also the input of the function tool of models without a browser toolset."""
