"""Mistakes in the arguments of a call, made from its schema and a good example."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Mistake:
    """Arguments with one mistake."""

    title: str
    arguments: Json
    field: str
    """Name that the error must contain: of the field that is wrong."""
    nearest: str = ""
    """Name that the error must suggest."""

    def __str__(self) -> str:
        return self.title


def mistakes_in(schema: Json, good: Json) -> Iterator[Mistake]:
    """Yield the arguments with each field removed, null, renamed, and with an unknown one.

    ``good`` has every field of the schema that matters. A field that is not required may be left
    out or null, so that only its other name is a mistake. Objects in lists are entered.
    """
    yield Mistake("unknown", {**good, "zz_unknown": 1}, "zz_unknown")
    for name in good:
        required = name in schema.get("required", ())
        rest = {key: value for key, value in good.items() if key != name}
        if required:
            yield Mistake(f"{name} removed", rest, name)
            yield Mistake(f"{name} null", {**rest, name: None}, name)
        for other in (f"{name}s", f"_{name}", name[:-1] if len(name) > 4 else f"{name}_"):
            nearest = name if len(name) > 3 and other not in schema["properties"] else ""
            yield Mistake(f"{name} as {other}", {**rest, other: good[name]}, other, nearest)
        for inner, put in _inside(schema["properties"].get(name, {}), good, name):
            for one in mistakes_in(*inner):
                yield Mistake(f"{name}: {one}", put(one.arguments), one.field, one.nearest)


def _inside(schema: Json, good: Json, name: str) -> Iterator[Any]:
    """Yield schema and value of an object in a field, and the function that replaces it."""
    if "properties" in schema:

        def put(value: Json) -> Json:
            return {**deepcopy(good), name: value}

        yield (schema, good[name]), put
    elif "properties" in schema.get("items", {}) and isinstance(good[name], list):

        def put_first(value: Json) -> Json:
            return {**deepcopy(good), name: [value, *good[name][1:]]}

        yield (schema["items"], good[name][0]), put_first
