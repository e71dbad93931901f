"""Reading values of a request's JSON, with the checks that all protocols have. Pure.

Each function takes the path of the value, which the error contains.
"""

import base64
from collections.abc import Collection, Mapping
from typing import Any

from .request import InvalidRequest, Measure, SeenPicture

Json = dict[str, Any]


def check(good: bool, where: str, problem: str) -> None:
    """Refuse the request unless a rule of the protocol is kept.

    Raises:
        InvalidRequest: If ``good`` is false.
    """
    if not good:
        raise InvalidRequest(where, problem)


def read_object(value: object, where: str) -> Json:
    """Return a value that must be an object.

    Raises:
        InvalidRequest: If it is none.
    """
    if not isinstance(value, dict):
        raise InvalidRequest(where, "must be an object")
    return value


def read_list(value: object, where: str) -> list[Any]:
    """Return a value that must be a list.

    Raises:
        InvalidRequest: If it is none.
    """
    if not isinstance(value, list):
        raise InvalidRequest(where, "must be a list")
    return value


def read_string(data: Mapping[str, Any], key: str, where: str) -> str:
    """Return the text of a key of the object at ``where``.

    Raises:
        InvalidRequest: If the key is missing, or its value is no text or an empty one.
    """
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise InvalidRequest(f"{where}.{key}", "must be a text")
    return value


def check_keys(data: Mapping[str, Any], allowed: Collection[str], where: str) -> None:
    """Refuse the first key of an object that is not allowed.

    Raises:
        InvalidRequest: If there is one.
    """
    for key in data:
        check(key in allowed, f"{where}.{key}", "is not a key of this object")


def is_whole(value: object, least: int, most: int) -> bool:
    """Return True if a value is a whole number within the limits, both included."""
    # ``bool`` is a subclass of ``int``, but ``true`` is no number in JSON.
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def read_base64(text: str, where: str) -> bytes:
    """Return decoded bytes.

    Raises:
        InvalidRequest: If the text is not base64.
    """
    try:
        # Without ``validate`` the decoder skips characters outside the alphabet, so that damaged
        # data would pass.
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise InvalidRequest(where, "is not base64") from None


def read_picture(text: str, measure: Measure, where: str) -> SeenPicture:
    """Return a picture from its base64 text.

    Raises:
        InvalidRequest: If the text is not base64, or its bytes are no picture of a known format.
    """
    data = read_base64(text, where)
    measured = measure(data)
    if measured is None:
        raise InvalidRequest(where, "is no picture")
    return SeenPicture(data, measured)
