"""Strict parsing of a request's JSON body.

The routes do not use Pydantic models: its errors have another form than ours, and it converts
values (``"1"`` to a number) where a client's mistake is better refused.
"""

import json
from typing import Any, NoReturn

from .errors import BadBody

Json = dict[str, Any]


def json_object(body: bytes) -> Json:
    """Return the JSON object of a body; an empty body is an empty object.

    Raises:
        BadBody: If it is not JSON, or not an object.
    """
    if not body.strip():
        return {}
    try:
        # Python reads ``NaN`` and ``Infinity`` by default; RFC 8259, section 6, does not permit
        # them.
        value = json.loads(body, parse_constant=_refuse)
        # JSON permits half a surrogate pair, which no UTF-8 text, and so no database, can hold.
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise BadBody("The body is not valid JSON.", "It is nested too deeply.") from None
    except ValueError as error:
        raise BadBody("The body is not valid JSON.", f"{error}.") from None
    if not isinstance(value, dict):
        raise BadBody("The body must be a JSON object.", f"It is {_kind(value)}.")
    return value


def only(body: Json, *names: str) -> None:
    """Refuse fields that the route does not know, so that a misspelt one is not ignored."""
    unknown = sorted(set(body) - set(names))
    if unknown:
        raise BadBody(f"Unknown field: {unknown[0]}.", f"Known fields: {', '.join(names)}.")


def text(body: Json, name: str, *, longest: int) -> str | None:
    """Return a field that is a string or absent."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadBody(f"{name} must be a text.", f"It is {_kind(value)}.")
    if len(value) > longest:
        raise BadBody(f"{name} is too long.", f"It has {len(value)} characters of {longest}.")
    return value


def needed_text(body: Json, name: str, *, longest: int) -> str:
    """Return a field that must contain more than white space."""
    value = text(body, name, longest=longest)
    if value is None or not value.strip():
        raise BadBody(f"{name} is required.")
    return value


def flag(body: Json, name: str) -> bool:
    """Return a field that is true, false or absent (false)."""
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise BadBody(f"{name} must be true or false.", f"It is {_kind(value)}.")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "a number"
