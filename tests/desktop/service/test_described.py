"""The OpenAPI document of routes that read their requests by themselves."""

from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from jsonschema import Draft202012Validator

from deskhand.desktop.actions.schema import either
from deskhand.desktop.applications import api as launch_api
from deskhand.desktop.clipboard import api as clipboard_api
from deskhand.desktop.geometry import Size
from deskhand.desktop.secrets import api as secrets_api
from deskhand.desktop.windows import api as windows_api

UNUSED: Any = None
PREFIX = "/api/v0/desktop"


def described(routes: APIRouter, path: str, method: str) -> dict[str, Any]:
    app = FastAPI()
    app.include_router(routes)
    found: dict[str, Any] = app.openapi()["paths"][PREFIX + path][method]
    return found


def names(operation: dict[str, Any]) -> list[str]:
    return [one["name"] for one in operation.get("parameters", [])]


def body(operation: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = operation["requestBody"]["content"]["application/json"]["schema"]
    return found


def test_windows_are_listed_and_moved_in_a_space() -> None:
    routes = windows_api.router(UNUSED, Size(1920, 1080), UNUSED)
    space = ["coordinate_space", "scaled_width", "scaled_height"]
    assert names(described(routes, "/windows", "get")) == space
    moved = body(described(routes, "/windows/{window_id}/move", "post"))
    assert list(moved["properties"]) == ["x", "y", "width", "height", *space]
    assert moved["properties"]["width"]["minimum"] == 1
    wish = described(routes, "/windows/{window_id}/{wish}", "post")
    assert wish["parameters"][1]["schema"]["enum"][0] == "focus"
    assert not wish["requestBody"]["required"]
    assert list(body(wish)["properties"]) == space


def test_the_queries_of_the_clipboard_are_documented() -> None:
    routes = clipboard_api.router(UNUSED, UNUSED)
    read, write = (described(routes, "/clipboard", method) for method in ("get", "put"))
    assert names(read) == ["type", "viewer"]
    assert "text" in read["parameters"][0]["schema"]["enum"]
    assert names(write) == ["restore_after", "viewer"]
    assert body(write)["else"] == either("text", "image_png")["else"]
    assert names(described(routes, "/clipboard/restore", "post")) == ["viewer"]


def test_secrets_have_a_length() -> None:
    app = FastAPI()
    app.include_router(secrets_api.router(UNUSED))
    schema = app.openapi()["components"]["schemas"]["Secrets"]["properties"]["values"]["items"]
    assert (schema["minLength"], schema["maxLength"]) == (4, 10_000)


@pytest.mark.parametrize(
    ("path", "first", "second"), [("/launch", "name", "command"), ("/open", "path", "url")]
)
def test_something_is_opened_by_one_of_two_names(path: str, first: str, second: str) -> None:
    schema = body(described(launch_api.router(UNUSED, UNUSED, UNUSED), path, "post"))
    is_valid = Draft202012Validator(schema).is_valid
    assert is_valid({first: "about:x"})
    assert is_valid({second: "about:x"})
    assert not is_valid({})
    assert not is_valid({first: "about:x", second: "about:x"})
    assert {first, second} <= set(schema["properties"])
