"""What is true of every operation of a service, told in its OpenAPI document.

Routes describe what they are for. Before each of them stands the border, which wants a credential
and refuses in one form; it also checks what the framework would have answered otherwise.
"""

import re
from typing import Any

from .policy import is_open

Json = dict[str, Any]

REFUSAL = "Refusal"
_WORDS: Json = {"type": "string"}
_FORM: Json = {
    "type": "object",
    "required": ["message"],
    "properties": {
        "message": {**_WORDS, "description": "One sentence; for each cause the same."},
        "detail": {**_WORDS, "description": "What exactly, and what may help."},
        "code": {
            **_WORDS,
            "description": "For programs, where a status has several causes.",
        },
        "validations": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "detail"],
                "properties": {"field": _WORDS, "detail": _WORDS},
            },
        },
    },
}
_CONTENT: Json = {"application/json": {"schema": {"$ref": f"#/components/schemas/{REFUSAL}"}}}
_OF_ALL = {
    "400": "The request is not valid; nothing was done.",
    "default": "It was refused for another reason.",
}
_OF_CLOSED = {
    "401": "There is no credential, or one that is wrong or has ended.",
    "403": "The credential is not good for this, or the request comes from a foreign page.",
}
_OF_NAMED = {"404": "There is no such thing."}
_OF_BODIES = {
    "413": "The body is too large.",
    "415": "The body is of a type that is not taken.",
}
# Their form is ours, and so is the status.
_OF_THE_FRAMEWORK = ("HTTPValidationError", "ValidationError")


def complete(document: Json) -> None:
    """Add to a document what its routes cannot know, and take out what is not so."""
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in _OF_THE_FRAMEWORK:
        schemas.pop(name, None)
    schemas[REFUSAL] = _FORM
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _complete(path, operation)


def _complete(path: str, operation: Json) -> None:
    parameters = operation.setdefault("parameters", [])
    named = re.findall(r"{(\w+)}", path)
    known = {one["name"] for one in parameters if one["in"] == "path"}
    for name in named:
        if name not in known:
            parameters.append({"name": name, "in": "path", "required": True, "schema": _WORDS})
    refusals = dict(_OF_ALL)
    if is_open(path):
        operation["security"] = []
    else:
        refusals |= _OF_CLOSED
    if named:
        refusals |= _OF_NAMED
    if "requestBody" in operation:
        refusals |= _OF_BODIES
    answers = operation["responses"]
    answers.pop("422", None)
    for status, meaning in refusals.items():
        answers.setdefault(status, {"description": meaning})
    for status, answer in answers.items():
        if status[0] in "45d":
            answer.setdefault("content", _CONTENT)
