"""OpenAPI parameters of the headers by which a request names its tool call."""

from typing import Any

from .caller import LONGEST_ID

Json = dict[str, Any]


def _header(name: str, schema: Json, description: str) -> Json:
    return {
        "name": f"Deskhand-{name}",
        "in": "header",
        "required": False,
        "schema": schema,
        "description": description,
    }


CALL_HEADERS: list[Json] = [
    _header("Chat-Id", {"type": "string", "format": "uuid"}, "The chat that the call belongs to."),
    _header(
        "Tool-Call-Id",
        {"type": "string", "minLength": 1, "maxLength": LONGEST_ID},
        "Names the call within its chat. A call is executed at most once in an hour, also by the"
        " next service on the same folder: a repetition is answered from the record, or 409 with"
        " the code outcome_unknown if the call broke off.",
    ),
    _header(
        "Generation",
        {"type": "integer", "minimum": 1},
        "Sent by control planes that take chats over from each other: under which generation the"
        " caller drives the chat. Every request of a chat under a lower one than the desktop has"
        " seen answers 409 with the code stale_driver.",
    ),
    _header(
        "Instance",
        {"type": "string"},
        "The instance_id of the desktop that the call was first sent to. Protects a repetition that"
        " reaches another instance, such as the next service on the address: unless that instance"
        " has a record of the call, it executes nothing and answers 409 with the code"
        " outcome_unknown. Send it with every call.",
    ),
]
