import asyncio
import errno
from pathlib import Path
from uuid import uuid4

import pytest

from deskhand.tools.kit.support.spec import ToolOutcome
from tests.tools.control_plane.fakes import (
    DEFAULT_CHAT,
    LIMIT,
    TOKEN,
    control_plane,
    local_socket,
    serving,
)

TOOLS = "/api/v0/tools"


def test_tools_are_listed_with_their_schemas(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            body = (await client.get(TOOLS)).json()
        assert body["tools"][0] == {
            "name": "execute",
            "description": "Run a command.",
            "input_schema": {"type": "object"},
        }

    asyncio.run(scenario())


def test_a_caller_without_a_chat_acts_for_the_default_chat_of_its_token(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            reply = await client.post(f"{TOOLS}/execute", json={"command": "ls"})
        assert reply.status_code == 200
        assert reply.json() == {"result": {"ok": True}, "caller_chat_id": DEFAULT_CHAT}
        assert reply.headers["deskhand-chat-id"] == DEFAULT_CHAT
        default, call = made.chats.asked
        assert default == ("default_chat", "admin")
        assert call[:3] == ("execute", {"command": "ls"}, DEFAULT_CHAT)
        assert call[3].startswith("call_")

    asyncio.run(scenario())


@pytest.mark.parametrize("header", ["Deskhand-Chat-Id", "Coder-Chat-Id"])
def test_a_named_chat_calls(tmp_path: Path, header: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        async with made.client() as client:
            headers = {header: chat.id, "Deskhand-Tool-Call-Id": "toolu_1"}
            reply = await client.post(f"{TOOLS}/execute", json={}, headers=headers)
        assert reply.json()["caller_chat_id"] == chat.id
        assert reply.headers["deskhand-chat-id"] == chat.id
        assert made.chats.asked == [("execute", {}, chat.id, "toolu_1")]

    asyncio.run(scenario())


def test_a_malformed_chat_header_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            headers = {"Deskhand-Chat-Id": "me"}
            reply = await client.post(f"{TOOLS}/execute", json={}, headers=headers)
        assert reply.status_code == 400
        assert reply.json() == {"message": "Deskhand-Chat-Id must be a UUID, not 'me'."}
        assert made.chats.asked == []

    asyncio.run(scenario())


def test_an_unknown_chat_cannot_call(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            headers = {"Deskhand-Chat-Id": str(uuid4())}
            reply = await client.post(f"{TOOLS}/execute", json={}, headers=headers)
        assert (reply.status_code, reply.json()["message"]) == (404, "Chat not found.")
        assert made.chats.asked == []

    asyncio.run(scenario())


def test_a_failed_tool_is_an_answer_and_no_http_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.chats.outcome = ToolOutcome(error="prompt is required")
        async with made.client() as client:
            reply = await client.post(f"{TOOLS}/execute", json={})
        assert reply.status_code == 200
        assert reply.json() == {
            "error": "prompt is required",
            "is_error": True,
            "caller_chat_id": DEFAULT_CHAT,
        }

    asyncio.run(scenario())


def test_a_tool_for_which_a_disk_has_no_room_answers_507(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.chats.outcome = ToolOutcome(error="3 MiB free", no_room=True)
        async with made.client() as client:
            reply = await client.post(f"{TOOLS}/execute", json={})
            made.chats.outcome = OSError(errno.ENOSPC, "No space left on device")
            full = await client.post(f"{TOOLS}/execute", json={})
        said = {"message": "The disk is almost full.", "detail": "3 MiB free"}
        failed = {"error": "3 MiB free", "is_error": True, "caller_chat_id": DEFAULT_CHAT}
        assert (reply.status_code, reply.json()) == (507, {**said, **failed})
        assert (full.status_code, "No space left" in full.json()["detail"]) == (507, True)

    asyncio.run(scenario())


def test_the_value_of_a_failed_tool_is_passed_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.chats.outcome = ToolOutcome({"type": "explore"}, error="no")
        async with made.client() as client:
            reply = await client.post(f"{TOOLS}/execute", json={})
        assert reply.json()["result"] == {"type": "explore"}

    asyncio.run(scenario())


def test_an_unknown_tool_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            reply = await client.post(f"{TOOLS}/fly", json={})
        assert reply.status_code == 404
        assert reply.json() == {
            "message": "Unknown tool: fly.",
            "detail": "Tools: execute, wait_agent.",
        }
        assert made.chats.asked == []

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "The body is not valid JSON."),
        (b"[]", "The body must be a JSON object."),
        (b'{"a": Infinity}', "The body is not valid JSON."),
    ],
)
def test_a_body_that_is_no_object_calls_nothing(tmp_path: Path, body: bytes, message: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            reply = await client.post(f"{TOOLS}/execute", content=body)
        assert (reply.status_code, reply.json()["message"]) == (400, message)
        assert made.chats.asked == []

    asyncio.run(scenario())


def test_a_client_that_leaves_ends_its_wait(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.chats.held.clear()
        bound, address = local_socket()
        async with serving(made.app, bound), asyncio.timeout(LIMIT):
            host, _, port = address.partition(":")
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(
                f"POST {TOOLS}/wait_agent HTTP/1.1\r\nHost: {address}\r\n"
                f"Authorization: Bearer {TOKEN}\r\nContent-Length: 2\r\n\r\n{{}}".encode()
            )
            await made.chats.calling.wait()
            writer.close()
            await made.chats.cancelled.wait()

    asyncio.run(scenario())
