"""Served pages and what is kept of requests."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from deskhand.tools.evaluation.running.pages import PageSlot, ServedPages

Json = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = tmp_path / "pages"
    (pages / "sub").mkdir(parents=True)
    (pages / "index.html").write_text("<p>Grüße</p>")
    (pages / "sub" / "index.html").write_text("sub")
    (pages / "thanks.html").write_text("thanks")
    (tmp_path / "secret.txt").write_text("secret")
    (pages / "link.txt").symlink_to(tmp_path / "secret.txt")
    return pages


def served(
    folder: Path | None, act: Callable[[httpx2.AsyncClient], Awaitable[None]]
) -> ServedPages:
    async def run() -> ServedPages:
        pages = ServedPages(folder)
        async with PageSlot().listening() as slot:
            slot.pages = pages
            async with httpx2.AsyncClient(base_url=slot.url, trust_env=False) as client:
                await act(client)
        return pages

    return asyncio.run(run())


def test_files_are_served_and_visits_kept(folder: Path) -> None:
    async def act(client: httpx2.AsyncClient) -> None:
        first = await client.get("/")
        assert first.text == "<p>Grüße</p>"
        assert first.headers["content-type"] == "text/html; charset=utf-8"
        assert (await client.get("/sub/?a=1")).text == "sub"
        for path in ("/none", "/%2e%2e/secret.txt", "/link.txt", "/..%2fsecret.txt"):
            assert (await client.get(path)).status_code == 404

    assert served(folder, act).visited[:2] == ["/", "/sub/?a=1"]


def test_forms_files_and_json_are_kept(folder: Path) -> None:
    async def act(client: httpx2.AsyncClient) -> None:
        form = {"name": "Ada", "tag": ["a", "b", "c"]}
        thanks = await client.post("/thanks.html?x=1", data=form)
        assert thanks.text == "thanks"
        page = await client.post("/order", data={}, headers={"Accept": "text/html,*/*"})
        assert "Received." in page.text
        sent = await client.post("/api", json={"a": [1]})
        assert sent.json() == {"ok": True, "number": 3}
        await client.put("/note", content="plain", headers={"Content-Type": "text/plain"})
        await client.post("/up", files={"file": ("a.txt", b"hello", "text/plain")})

    first, _, third, fourth, fifth = served(folder, act).posted
    assert (first["method"], first["path"], first["query"]) == ("POST", "/thanks.html", {"x": "1"})
    assert first["fields"] == {"name": "Ada", "tag": ["a", "b", "c"]}
    assert third["json"] == {"a": [1]}
    assert (fourth["method"], fourth["text"]) == ("PUT", "plain")
    assert "json" not in fourth
    upload: Json = fifth["fields"]["file"]
    assert (upload["file"], upload["bytes"], upload["text"]) == ("a.txt", 5, "hello")
    assert len(upload["sha256"]) == 64


def test_a_body_that_is_too_large_is_refused(folder: Path) -> None:
    async def act(client: httpx2.AsyncClient) -> None:
        assert (await client.post("/a", content=bytes(9 << 20))).status_code == 413

        async def endless() -> AsyncIterator[bytes]:
            yield b"a"

        assert (await client.post("/a", content=endless())).status_code == 411

    assert served(folder, act).posted == []


def test_a_task_without_pages_keeps_requests_all_the_same() -> None:
    async def act(client: httpx2.AsyncClient) -> None:
        assert (await client.get("/")).status_code == 404
        assert (await client.post("/beacon", content=b"x")).status_code == 200

    assert len(served(None, act).posted) == 1


def test_nothing_is_served_between_two_runs() -> None:
    async def run() -> None:
        async with (
            PageSlot().listening() as slot,
            httpx2.AsyncClient(base_url=slot.url, trust_env=False) as client,
        ):
            assert slot.address == slot.url.removeprefix("http://")
            assert (await client.get("/")).status_code == 404
            assert (await client.post("/")).status_code == 404

    asyncio.run(run())
