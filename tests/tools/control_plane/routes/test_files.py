import asyncio
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi import Request
from starlette.types import Message

from deskhand.tools.control_plane.routes.files import sent
from tests.tools.control_plane.fakes import SHA, control_plane, file_view

FILES = "/api/v0/files"


def test_a_stored_picture_is_shown_and_fenced_in(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(b"pixels")
        async with made.client() as client:
            reply = await client.get(f"{FILES}/{file.id}")
        assert (reply.status_code, reply.content) == (200, b"pixels")
        assert reply.headers["content-type"] == "image/png"
        assert reply.headers["content-disposition"] == 'inline; filename="a.png"'
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert reply.headers["cross-origin-resource-policy"] == "same-origin"
        assert reply.headers["etag"] == f'"{SHA}"'
        assert reply.headers["accept-ranges"] == "bytes"
        assert "private" in reply.headers["cache-control"]

    asyncio.run(scenario())


def test_html_written_by_an_agent_is_only_saved(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(b"<script>", name="x.html", media_type="text/html")
        async with made.client() as client:
            reply = await client.get(f"{FILES}/{file.id}")
        assert reply.headers["content-disposition"] == 'attachment; filename="x.html"'
        assert reply.headers["content-type"] == "text/html; charset=utf-8"

    asyncio.run(scenario())


def test_a_download_can_be_asked_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(name="run.mp4", media_type="video/mp4")
        async with made.client() as client:
            reply = await client.get(f"{FILES}/{file.id}", params={"download": "1"})
        assert reply.headers["content-disposition"] == 'attachment; filename="run.mp4"'

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("asked", "content", "expected"),
    [
        ("bytes=2-4", b"234", "bytes 2-4/10"),
        ("bytes=7-", b"789", "bytes 7-9/10"),
        ("bytes=-2", b"89", "bytes 8-9/10"),
    ],
)
def test_a_part_of_a_video_is_sent(
    tmp_path: Path, asked: str, content: bytes, expected: str
) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(b"0123456789", media_type="video/mp4")
        async with made.client() as client:
            reply = await client.get(f"{FILES}/{file.id}", headers={"Range": asked})
        assert (reply.status_code, reply.content) == (206, content)
        assert reply.headers["content-range"] == expected
        assert reply.headers["x-content-type-options"] == "nosniff"

    asyncio.run(scenario())


def test_a_part_behind_the_end_cannot_be_sent(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(b"0123456789", media_type="video/mp4")
        async with made.client() as client:
            reply = await client.get(f"{FILES}/{file.id}", headers={"Range": "bytes=10-"})
            older = {"Range": "bytes=10-", "If-Range": '"older"'}
            whole = await client.get(f"{FILES}/{file.id}", headers=older)
        assert (reply.status_code, reply.headers["content-range"]) == (416, "bytes */10")
        assert reply.json() == {"message": "Range not satisfiable."}
        assert (whole.status_code, whole.content) == (200, b"0123456789")

    asyncio.run(scenario())


def test_a_part_of_other_bytes_is_not_wanted(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(b"0123456789", media_type="video/mp4")
        headers = {"Range": "bytes=0-1", "If-Range": '"older"'}
        async with made.client() as client:
            reply = await client.get(f"{FILES}/{file.id}", headers=headers)
        assert (reply.status_code, reply.content) == (200, b"0123456789")

    asyncio.run(scenario())


def test_bytes_that_the_client_has_are_not_sent_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add()
        headers = {"If-None-Match": f'"{SHA}"'}
        async with made.client() as client:
            reply = await client.get(f"{FILES}/{file.id}", headers=headers)
        assert (reply.status_code, reply.content) == (304, b"")
        assert reply.headers["etag"] == f'"{SHA}"'

    asyncio.run(scenario())


def test_the_head_of_a_file_has_its_size(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(b"12345")
        async with made.client() as client:
            reply = await client.head(f"{FILES}/{file.id}")
        assert (reply.status_code, reply.content) == (200, b"")
        assert reply.headers["content-length"] == "5"

    asyncio.run(scenario())


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_unknown_file_is_not_found(tmp_path: Path, method: str) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            reply = await client.request(method, f"{FILES}/{uuid4()}")
        assert (reply.status_code, reply.json()["message"]) == (404, "File not found.")

    asyncio.run(scenario())


def test_a_file_whose_bytes_are_lost_is_not_found(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(None)
        async with made.client() as client:
            reply = await client.get(f"{FILES}/{file.id}")
        assert (reply.status_code, reply.json()["message"]) == (404, "File not found.")

    asyncio.run(scenario())


def test_a_deleted_file_is_gone(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add()
        async with made.client() as client:
            assert (await client.delete(f"{FILES}/{file.id}")).status_code == 204
            assert (await client.get(f"{FILES}/{file.id}")).status_code == 404

    asyncio.run(scenario())


def test_a_chats_files_are_listed(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        file = file_view(chat_id=chat.id)
        made.chats.files_of[chat.id] = (file,)
        async with made.client() as client:
            reply = await client.get(FILES, params={"chat": chat.id})
            unknown = await client.get(FILES, params={"chat": str(uuid4())})
            missing = await client.get(FILES)
        assert reply.json() == {"files": [file.to_json()]}
        assert unknown.status_code == 404
        assert (missing.status_code, missing.json()["message"]) == (400, "chat is required.")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("asked", "status", "content", "expected"),
    [
        ({}, 200, b"0123456789", None),
        ({"Range": "bytes=2-4"}, 206, b"234", "bytes 2-4/10"),
        ({"Range": "bytes=-2"}, 206, b"89", "bytes 8-9/10"),
        ({"Range": "bytes=2-4", "If-Range": f'"{SHA}"'}, 206, b"234", "bytes 2-4/10"),
        ({"Range": "bytes=2-4", "If-Range": '"other"'}, 200, b"0123456789", None),
        ({"If-None-Match": f'"{SHA}"'}, 304, b"", None),
    ],
)
def test_a_video_that_is_kept_elsewhere_is_sent_in_the_same_way(
    tmp_path: Path, asked: dict[str, str], status: int, content: bytes, expected: str | None
) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(None, media_type="video/mp4", size=10)
        made.files.elsewhere[file.id] = b"0123456789"
        async with made.client() as client:
            reply = await client.get(f"{FILES}/{file.id}", headers=asked)
            head = await client.head(f"{FILES}/{file.id}", headers=asked)
        assert (reply.status_code, reply.content) == (status, content)
        assert reply.headers.get("content-range") == expected
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert (head.status_code, head.content) == (status, b"")

    asyncio.run(scenario())


def test_a_part_behind_the_end_of_what_is_elsewhere_cannot_be_sent(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(None, size=10)
        made.files.elsewhere[file.id] = b"0123456789"
        async with made.client() as client:
            reply = await client.get(f"{FILES}/{file.id}", headers={"Range": "bytes=10-"})
        assert (reply.status_code, reply.headers["content-range"]) == (416, "bytes */10")

    asyncio.run(scenario())


def test_a_file_can_be_pinned_and_unpinned(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add()
        async with made.client() as client:
            pinned = await client.put(f"{FILES}/{file.id}/pin")
            assert (pinned.status_code, pinned.json()["pinned"]) == (200, True)
            again = await client.put(f"{FILES}/{file.id}/pin")
            assert again.json() == pinned.json()
            loose = await client.delete(f"{FILES}/{file.id}/pin")
            assert loose.json()["pinned"] is False
            assert (await client.put(f"{FILES}/{uuid4()}/pin")).status_code == 404

    asyncio.run(scenario())


@pytest.mark.parametrize("asked", ["bytes=5-2", "junk", "lines=1-2", "bytes=-"])
def test_a_range_that_is_none_is_ignored(tmp_path: Path, asked: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(b"0123456789", media_type="video/mp4", size=10)
        async with made.client() as client:
            reply = await client.get(f"{FILES}/{file.id}", headers={"Range": asked})
        assert (reply.status_code, reply.content) == (200, b"0123456789")

    asyncio.run(scenario())


def test_a_file_that_is_moved_away_while_it_is_answered_is_sent_whole(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        file = made.files.add(b"0123456789", media_type="video/mp4")
        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        responses: list[Message] = []

        async def keep(message: Message) -> None:
            responses.append(message)

        async def stays() -> Message:
            await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        answer = await sent(made.files, file, Request(scope), download=False)
        made.files.path(file.id).unlink()
        await answer(scope, stays, keep)
        assert responses[0]["status"] == 200
        assert b"".join(message["body"] for message in responses[1:]) == b"0123456789"

    asyncio.run(scenario())
