"""Contents of the requests of control planes."""

from typing import Any

from starlette.requests import Request

from deskhand.tools.fleet.errors import BadOrder

Json = dict[str, Any]


async def json_of(request: Request) -> Json:
    """Return the JSON object that a request has.

    Raises:
        BadOrder: If it has none.
    """
    try:
        found = await request.json()
    except ValueError as error:
        raise BadOrder(f"the content is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadOrder("the content is not an object")
    return found


def text_of(body: Json, name: str) -> str:
    """Return a field that is a text.

    Raises:
        BadOrder: If it is missing, or something else.
    """
    found = body.get(name)
    if not isinstance(found, str) or not found:
        raise BadOrder(f"{name} must be a text")
    return found
