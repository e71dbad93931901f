"""The client's results and the document's schemas are of the same answers."""

from collections.abc import Callable
from typing import Any

import pytest

from deskhand.desktop import results
from deskhand.desktop.openapi.commands import OUTPUT
from deskhand.desktop.openapi.recordings import RECORDING, STOPPED_RECORDING
from deskhand.desktop.openapi.screen import (
    ACTION_RESULT,
    APPLICATIONS,
    BATCH_RESULT,
    LAUNCHED,
    WIDGETS,
    WINDOW,
)
from deskhand.desktop.openapi.state import LEASE, STATUS

Json = dict[str, Any]


class Noting(dict[str, Any]):
    """An object that notes which members were read."""

    def __init__(self, values: Json, read: set[str]) -> None:
        super().__init__(values)
        self._read = read

    def __getitem__(self, name: str) -> Any:
        self._read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._read.add(name)
        return super().get(name, default)


def example(schema: Json) -> Any:
    """The least value of a schema: no optional member, no item of a list."""
    if "oneOf" in schema:
        return None
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "null")
    kind = kind[-1] if isinstance(kind, list) else kind
    if kind == "object":
        needed = schema.get("required", ())
        return {name: example(schema["properties"][name]) for name in needed}
    if kind == "array":
        return [example(schema["items"])] * schema.get("minItems", 0)
    return {"string": "1", "number": 1.0, "integer": 1, "boolean": True, "null": None}[kind]


@pytest.mark.parametrize(
    ("read", "schema"),
    [
        (results.done, ACTION_RESULT),
        (results.ended, OUTPUT),
        (results.recording, RECORDING),
        (results.recording, STOPPED_RECORDING),
        (results.status, STATUS),
        (results.widget, WIDGETS["properties"]["applications"]["items"]),
        (results.window, WINDOW),
        (results.application, APPLICATIONS["properties"]["applications"]["items"]),
        (results.started, LAUNCHED),
        (results.tenure, LEASE),
    ],
)
def test_a_result_is_read_from_the_members_of_its_schema(
    read: Callable[[Json], object], schema: Json
) -> None:
    names: set[str] = set()
    assert read(Noting(example(schema), names))
    assert names <= set(schema["properties"])


def test_a_batch_is_read_from_its_answer() -> None:
    assert results.batch(example(BATCH_RESULT)).done == ()
