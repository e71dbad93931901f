"""Hypothesis strategies for requests from an OpenAPI document: mostly valid, sometimes not."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

Json = dict[str, Any]

# Routes whose responses never end, or that end the session of the client.
LEFT_OUT = (
    *("/events", "/stream", "/watch", "/logout"),
    *("/api/v0/login", "/api/v0/login/codes", "/api/v0/login/tickets"),
)

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(-1e99, 1e99) | st.text()
ANYTHING = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
_SIMPLE: dict[str, Callable[[Json], st.SearchStrategy[Any]]] = {
    "integer": lambda one: st.integers(one.get("minimum", -9), min(one.get("maximum", 2000), 2000)),
    "number": lambda one: st.floats(one.get("minimum", -9), min(one.get("maximum", 99), 99)),
    "boolean": lambda one: st.booleans(),
    "string": lambda one: st.text(max_size=9),
    "null": lambda one: st.none(),
}
_SHORT = st.sampled_from([0, 1, 0.02])
_WHERE = st.sampled_from(["/no/such/place", "/tmp", "here", "", "\0", "/" + "x" * 300])
# Values for fields that could take long or change the machine are chosen from harmless ones.
CHOSEN: dict[str, st.SearchStrategy[Any]] = {
    "duration": _SHORT,
    "duration_ms": st.integers(0, 20),
    "max_ms": st.integers(0, 50),
    "quiet_ms": st.integers(0, 50),
    "wait": _SHORT,
    "timeout_ms": st.integers(0, 20),
    "timeout_seconds": _SHORT,
    "call_age_ms": st.integers(0, 20),
    "scroll_amount": st.integers(0, 3),
    "scroll_pixels": st.integers(0, 99),
    "delay_ms": st.integers(0, 1),
    # The top of the screen has no panel, on which a click would start a browser.
    "coordinate": st.tuples(st.integers(-9, 2000), st.integers(-9, 300)).map(list),
    "start_coordinate": st.tuples(st.integers(-9, 2000), st.integers(-9, 300)).map(list),
    "path": _WHERE,
    # A missing directory is a documented 500, as in other services that run commands.
    "workdir": st.sampled_from(["/tmp", ""]),
    "output_path": st.none(),
    "command": st.sampled_from(["true", "exit 3", "echo \N{SNOWMAN}", "", "\0"]),
    "name": st.sampled_from(["nothing", "", "\0", "Ann"]),
    "url": st.sampled_from(["about:blanked", "gopher://x", "", "//"]),
    "force": st.just(True),
    "text": st.sampled_from(["a", "ctrl+s", "F5", "語", "Hi", "shift", ""]) | st.text(max_size=5),
    "modifiers": st.lists(st.sampled_from(["ctrl", "alt", "shift", "x"]), max_size=2),
}
ALWAYS = {"timeout_seconds"}
"""Fields that are given although they are optional: by default a request waits for long."""


@dataclass(frozen=True)
class Operation:
    """One method of one route."""

    method: str
    path: str
    parameters: tuple[Json, ...]
    bodies: Json
    """Schemas by media type."""
    document: Json = field(repr=False)
    """The document, in which references of the schemas are resolved."""


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    json: Any = None
    content: bytes | None = None


def operations(document: Json) -> list[Operation]:
    """Return the operations of an OpenAPI document except those that are left out."""
    return [
        Operation(
            method.upper(),
            path,
            tuple(described.get("parameters", ())),
            described.get("requestBody", {}).get("content", {}),
            document,
        )
        for path, methods in document["paths"].items()
        if not path.endswith(LEFT_OUT)
        for method, described in methods.items()
    ]


@st.composite
def requests(draw: st.DrawFn, operation: Operation) -> Asked:
    """Draw a request for an operation; every tenth value ignores the schema."""
    document = operation.document
    path, query = operation.path, []
    for parameter in operation.parameters:
        name = parameter["name"]
        if parameter["in"] == "path":
            value = draw(st.sampled_from(["1", "x", "0x7", "focus"]) | st.uuids().map(str))
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
        elif parameter["in"] == "query" and draw(st.booleans()):
            query.append(
                (name, _plain(draw(value_of(name, parameter.get("schema", {}), document))))
            )
    if not operation.bodies:
        return Asked(operation.method, path, tuple(query))
    kind = draw(st.sampled_from(sorted(operation.bodies)))
    if kind != "application/json":
        return Asked(operation.method, path, tuple(query), content=draw(st.binary(max_size=20)))
    schema = operation.bodies[kind].get("schema", {})
    body = draw(ANYTHING if draw(st.integers(0, 9)) == 0 else value_of("", schema, document))
    return Asked(operation.method, path, tuple(query), json=body)


def value_of(name: str, schema: Json, document: Json) -> st.SearchStrategy[Any]:
    """Return a strategy for a schema, with some wrong values; chosen ones for certain names."""
    if name in CHOSEN:
        return CHOSEN[name]
    return st.integers(0, 9).flatmap(
        lambda chance: ANYTHING if name and chance == 0 else _of(schema, document)
    )


def _of(schema: Json, document: Json) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        found: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return _of(found, document)
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "properties" in schema:
        return _object(schema, document)
    if choices := _choices(schema):
        return st.one_of([_of(one, document) for one in choices])
    simple = _SIMPLE.get(schema.get("type", ""))
    if simple is not None:
        return simple(schema)
    if schema.get("type") != "array":
        return ANYTHING
    least = schema.get("minItems", 0)
    items = value_of("", schema.get("items", {}), document)
    return st.lists(items, min_size=least, max_size=max(least, min(schema.get("maxItems", 3), 3)))


def _choices(schema: Json) -> list[Json]:
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return [{**schema, "type": kind} for kind in kinds]
    return [*schema.get("oneOf", ()), *schema.get("anyOf", ())]


@st.composite
def _object(draw: st.DrawFn, schema: Json, document: Json) -> Json:
    fields: Json = schema["properties"]
    needed = {*schema.get("required", ()), *(ALWAYS & fields.keys())}
    if "oneOf" in schema:
        needed.update(draw(st.sampled_from(schema["oneOf"])).get("required", ()))
    # Only a few optional fields, as many of them exclude each other.
    more = draw(st.lists(st.sampled_from(sorted(fields)), max_size=2))
    names = [name for name in fields if name in needed or name in more]
    return {name: draw(value_of(name, fields[name], document)) for name in names}


def _plain(value: Any) -> str:
    return str(value).encode("utf-8", "replace").decode()
