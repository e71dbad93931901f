import asyncio
import re
from pathlib import Path

import pytest
from fastapi import APIRouter

from tests.tools.control_plane.fakes import control_plane


def test_the_description_names_every_route(tmp_path: Path) -> None:
    paths = control_plane(tmp_path).app.openapi()["paths"]
    assert {
        f"{method.upper()} {path}"
        for path, methods in paths.items()
        for method in methods
        if method != "head"
    } >= {
        "GET /healthz",
        "GET /readyz",
        "GET /api/v0/status",
        "POST /api/v0/chats",
        "GET /api/v0/chats",
        "GET /api/v0/chats/{chat_id}",
        "DELETE /api/v0/chats/{chat_id}",
        "GET /api/v0/chats/{chat_id}/messages",
        "POST /api/v0/chats/{chat_id}/messages",
        "POST /api/v0/chats/{chat_id}/interrupt",
        "POST /api/v0/chats/{chat_id}/archive",
        "GET /api/v0/chats/{chat_id}/events",
        "GET /api/v0/chats/{chat_id}/desktop",
        "GET /api/v0/tools",
        "POST /api/v0/tools/{name}",
        "GET /api/v0/files",
        "GET /api/v0/files/{file_id}",
        "DELETE /api/v0/files/{file_id}",
        "GET /api/v0/desktops",
        "POST /api/v0/desktops",
        "GET /api/v0/desktops/{desktop_id}",
        "DELETE /api/v0/desktops/{desktop_id}",
        "GET /api/v0/recordings",
        "GET /api/v0/runs/{chat_id}",
        "GET /api/v0/events",
    }


def test_the_openapi_document_has_the_types_of_responses(tmp_path: Path) -> None:
    paths = control_plane(tmp_path).app.openapi()["paths"]
    types = {
        f"{path} {status}": list(answer.get("content", {}))
        for path, methods in paths.items()
        for status, answer in methods.get("get", {"responses": {}})["responses"].items()
    }
    recording = "/api/v0/recordings/{chat_id}"
    assert types["/api/v0/files/{file_id} 206"] == ["*/*"]
    assert types[f"{recording}/clip 200"] == types[f"{recording}/video 206"] == ["video/mp4"]
    assert types[f"{recording}/clip 416"] == ["application/json"]
    assert types[f"{recording}/steps.vtt 200"] == ["text/vtt"]
    assert types[f"{recording}/steps.vtt 304"] == []
    assert types["/api/v0/events 200"] == ["text/event-stream"]
    assert types["/api/v0/chats/{chat_id}/events 200"] == ["text/event-stream"]
    assert types["/readyz 503"] == ["application/json"]
    assert "/api/v0/chats/{chat_id}/desktop 200" not in types
    assert types["/api/v0/chats/{chat_id}/desktop 426"] == ["application/json"]


def test_the_openapi_document_marks_required_bodies(tmp_path: Path) -> None:
    paths = control_plane(tmp_path).app.openapi()["paths"]
    needed = {
        path: methods["post"]["requestBody"]["required"]
        for path, methods in paths.items()
        if "requestBody" in methods.get("post", {})
    }
    assert needed["/api/v0/chats/{chat_id}/answer"]
    assert needed["/api/v0/chats/{chat_id}/messages"]
    assert not needed["/api/v0/chats"]
    assert not needed["/api/v0/tools/{name}"]


def test_the_description_is_served_and_each_operation_has_one_name(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            body = (await client.get("/openapi.json")).json()
        names = [
            operation["operationId"]
            for methods in body["paths"].values()
            for operation in methods.values()
        ]
        assert len(names) == len(set(names))
        assert body["info"]["version"] == "1.2.3"

    asyncio.run(scenario())


def test_the_page_of_routes_asks_nothing_of_any_other_place(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            page = await client.get("/docs")
        assert page.headers["content-security-policy"].startswith("default-src 'self'")
        assert "/api/v0/chats/{chat_id}" in page.text
        assert not re.search(r"https?://|<script|style=", page.text)

    asyncio.run(scenario())


@pytest.mark.parametrize("path", ["/api/v0/nothing", "/api/v0/chats/", "/api/v0/tools/a/b"])
def test_an_unknown_path_is_json_and_goes_nowhere_else(tmp_path: Path, path: str) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            reply = await client.get(path)
        assert (reply.status_code, reply.json()) == (404, {"message": "Not Found"})

    asyncio.run(scenario())


def test_a_wrong_method_is_a_405(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            reply = await client.put("/api/v0/chats", json={})
        assert reply.status_code == 405

    asyncio.run(scenario())


def test_pages_are_served_beside_the_api(tmp_path: Path) -> None:
    pages = APIRouter()

    @pages.get("/")
    async def home() -> dict[str, str]:
        return {"page": "home"}

    async def scenario() -> None:
        async with control_plane(tmp_path, pages=(pages,)).client() as client:
            assert (await client.get("/")).json() == {"page": "home"}

    asyncio.run(scenario())


def test_without_a_token_nothing_is_revealed(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            del client.headers["Authorization"]
            for path in ("/api/v0/chats", "/api/v0/desktops/d1/desktop", "/docs", "/openapi.json"):
                assert (await client.get(path)).status_code == 401
        assert made.chats.asked == []

    asyncio.run(scenario())
