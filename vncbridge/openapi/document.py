"""Completion of an OpenAPI document: names of operations, answers, and components.

Routes do not declare response models: these cost time when a service starts and at each request.
Instead a table describes the operations of a service, and tests compare it with real answers.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from .schemas import COMPONENT, Json, reference

JSON = "application/json"


class ApiOperation(NamedTuple):
    """Description of one operation."""

    id: str
    """The ``operationId``: unique and stable, as clients are generated with it."""
    answer: Json | None = None
    """Schema of the JSON body of its success; None if it has none."""


ApiOperations = Mapping[str, ApiOperation]
"""ApiOperations by method and path, such as ``GET /api/v0/desktop``."""


def describe(document: Json, operations: ApiOperations) -> None:
    """Name the operations of a document, and move named schemas to its components.

    Raises:
        ValueError: If two different schemas have the same name.
    """
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            known = operations.get(f"{method.upper()} {path}")
            if known is not None:
                operation["operationId"] = known.id
                _set_answer(operation, known.answer)
    components = document.setdefault("components", {}).setdefault("schemas", {})
    document["paths"] = _moved(document["paths"], components)


def _set_answer(operation: Json, answer: Json | None) -> None:
    for status, response in operation["responses"].items():
        content = response.get("content", {})
        # FastAPI describes each answer without a model as JSON of any form.
        if status.startswith("2") and JSON in content:
            if answer is None:
                del content[JSON]
            else:
                content[JSON] = {"schema": answer}


def _moved(value: Any, components: Json) -> Any:
    if isinstance(value, list):
        return [_moved(item, components) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {name: _moved(item, components) for name, item in value.items() if name != COMPONENT}
    if COMPONENT not in value:
        return inner
    name = value[COMPONENT]
    if components.setdefault(name, inner) != inner:
        raise ValueError(f"two different schemas have the name {name}")
    return reference(name)
