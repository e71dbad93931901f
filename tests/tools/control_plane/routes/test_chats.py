import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from deskhand.tools.conversation.errors import (
    IllegalMove,
    MessageQueueFull,
    NoModel,
    QuestionClosed,
)
from deskhand.tools.conversation.restrictions import ChatRestrictions
from deskhand.tools.conversation.views import MessageView, StepView, UsageView
from tests.tools.control_plane.fakes import Json, control_plane, file_view

CHATS = "/api/v0/chats"
UNKNOWN_CHAT = str(uuid4())


def step(chat_id: str) -> StepView:
    return StepView(
        id="s1",
        chat_id=chat_id,
        index=0,
        turn=1,
        tool_call_id="call_1",
        tool="execute",
        title="ls",
        action=None,
        arguments={"command": "ls"},
        status="done",
        error=None,
        started_at=1.0,
        ended_at=2.0,
        timings={"act_ms": 1.0},
        details={},
        screenshot_file_id=None,
        video_start=0.5,
        video_end=1.5,
    )


def test_a_new_chat_is_shown_as_it_was_made(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        wanted = {"prompt": "Look", "title": "T", "mode": "computer_use", "model": "scripted:x"}
        async with made.client() as client:
            reply = await client.post(CHATS, json=wanted)
        assert reply.status_code == 201
        assert reply.json()["title"] == "T"
        assert reply.json()["state"] == "waiting"
        assert made.chats.asked == [("create", {**wanted, "owner": "owner"})]

    asyncio.run(scenario())


def test_a_chat_without_execute_can_be_made(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            answer = await client.post("/api/v0/chats", json={"without_execute": True})
            wrong = await client.post("/api/v0/chats", json={"without_execute": "yes"})
        assert (answer.status_code, wrong.status_code) == (201, 400)
        assert made.chats.asked[0][1]["without_execute"] is True

    asyncio.run(scenario())


def test_the_effort_of_a_chat_can_be_chosen(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            answer = await client.post(CHATS, json={"effort": "high"})
            wrong = await client.post(CHATS, json={"effort": 3})
        assert (answer.status_code, wrong.status_code) == (201, 400)
        assert made.chats.asked[0][1]["effort"] == "high"

    asyncio.run(scenario())


def test_a_chat_needs_nothing_to_be_made(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            assert (await client.post(CHATS)).status_code == 201
            nothing = {"prompt": None, "title": None, "mode": None, "model": ""}
            assert (await client.post(CHATS, json=nothing)).status_code == 201
        wanted = {"prompt": None, "title": None, "mode": "general", "model": None}
        assert made.chats.asked == [("create", {**wanted, "owner": "owner"})] * 2

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"prompt": " "}, "prompt is required."),
        ({"prompt": ""}, "prompt is required."),
        ({"prompt": 1}, "prompt must be a text."),
        ({"prompt": "a" * 100_001}, "prompt is too long."),
        ({"title": "a" * 201}, "title is too long."),
        ({"mode": "root"}, "Unknown mode: root."),
        ({"mode": ""}, "Unknown mode: ."),
        ({"promt": "x"}, "Unknown field: promt."),
        ([], "The body must be a JSON object."),
    ],
)
def test_a_wrong_body_makes_no_chat(tmp_path: Path, body: Any, message: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            reply = await client.post(CHATS, json=body)
        assert reply.status_code == 400
        assert reply.json()["message"] == message
        assert made.chats.asked == []

    asyncio.run(scenario())


def test_bad_json_is_refused_with_its_position(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            reply = await client.post(CHATS, content=b"{nope")
        assert reply.status_code == 400
        assert reply.json()["message"] == "The body is not valid JSON."
        assert "column 2" in reply.json()["detail"]

    asyncio.run(scenario())


def test_a_missing_model_is_refused_with_advice(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.chats.failure = NoModel("set ANTHROPIC_API_KEY")
        async with made.client() as client:
            reply = await client.post(CHATS, json={"prompt": "x"})
        assert (reply.status_code, reply.json()) == (400, {"message": "set ANTHROPIC_API_KEY"})

    asyncio.run(scenario())


def test_chats_are_listed_page_by_page(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        ids = [made.chats.add(state="running").id for _ in range(3)][::-1]
        async with made.client() as client:
            first = (await client.get(CHATS, params={"limit": 2, "state": "running"})).json()
            assert [chat["id"] for chat in first["chats"]] == ids[:2]
            asked = {"cursor": first["next_cursor"], "limit": 2}
            second = (await client.get(CHATS, params=asked)).json()
        assert [chat["id"] for chat in second["chats"]] == ids[2:]
        assert second["next_cursor"] is None

    asyncio.run(scenario())


def test_the_filters_reach_the_chats(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            await client.get(CHATS, params={"parent": "p", "state": "error"})
            await client.get(CHATS, params={"parent": ""})
        assert made.chats.asked == [
            ("list", "p", "error", 50, None),
            ("list", "", None, 50, None),
        ]

    asyncio.run(scenario())


@pytest.mark.parametrize("limit", ["0", "101", "x"])
def test_a_wrong_limit_is_refused(tmp_path: Path, limit: str) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            reply = await client.get(CHATS, params={"limit": limit})
        assert reply.status_code == 400
        assert reply.json()["validations"][0]["field"] == "limit"

    asyncio.run(scenario())


def test_one_chat_is_shown_with_steps_files_usage_and_children(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add(usage=UsageView(3, 4), children=("c1",))
        file = file_view(chat_id=chat.id)
        made.chats.steps_of[chat.id] = (step(chat.id),)
        made.chats.files_of[chat.id] = (file,)
        async with made.client() as client:
            body = (await client.get(f"{CHATS}/{chat.id}")).json()
        assert body["id"] == chat.id
        assert body["steps"][0]["video_start"] == 0.5
        assert body["files"] == [file.to_json()]
        assert body["usage"]["output_tokens"] == 4
        assert body["children"] == ["c1"]

    asyncio.run(scenario())


def test_the_messages_are_shown(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        message = MessageView(1, chat.id, 0, "user", ({"type": "text", "text": "hi"},), 1.0)
        made.chats.messages_of[chat.id] = (message,)
        async with made.client() as client:
            body = (await client.get(f"{CHATS}/{chat.id}/messages")).json()
        assert body["messages"][0]["content"] == [{"type": "text", "text": "hi"}]

    asyncio.run(scenario())


def test_a_message_is_sent_and_the_chat_shown(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        async with made.client() as client:
            path = f"{CHATS}/{chat.id}/messages"
            reply = await client.post(path, json={"message": "go", "interrupt": True})
        assert reply.json()["id"] == chat.id
        assert made.chats.asked == [("send", chat.id, "go", True)]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "message is required."),
        ({"message": "\n"}, "message is required."),
        ({"message": "a", "interrupt": "yes"}, "interrupt must be true or false."),
        ({"message": "a", "x": 1}, "Unknown field: x."),
    ],
)
def test_a_wrong_message_is_not_sent(tmp_path: Path, body: Json, message: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        async with made.client() as client:
            reply = await client.post(f"{CHATS}/{chat.id}/messages", json=body)
        assert (reply.status_code, reply.json()["message"]) == (400, message)
        assert made.chats.asked == []

    asyncio.run(scenario())


def test_a_full_queue_is_a_conflict(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        made.chats.failure = MessageQueueFull(20)
        async with made.client() as client:
            reply = await client.post(f"{CHATS}/{chat.id}/messages", json={"message": "a"})
        assert reply.status_code == 409
        assert reply.json() == {"message": "chat message queue is full (max 20)"}

    asyncio.run(scenario())


@pytest.mark.parametrize("act", ["interrupt", "archive"])
def test_a_chat_is_stopped_or_put_away(tmp_path: Path, act: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        async with made.client() as client:
            reply = await client.post(f"{CHATS}/{chat.id}/{act}")
        assert (reply.status_code, reply.json()["id"]) == (200, chat.id)
        assert made.chats.asked == [(act, chat.id)]

    asyncio.run(scenario())


def test_a_move_that_the_state_forbids_is_a_conflict(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add(state="running")
        made.chats.failure = IllegalMove("archive", "running")
        async with made.client() as client:
            reply = await client.post(f"{CHATS}/{chat.id}/archive")
        assert reply.status_code == 409
        assert reply.json() == {"message": "cannot archive a chat that is running"}

    asyncio.run(scenario())


def test_a_deleted_chat_has_no_body(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        async with made.client() as client:
            reply = await client.delete(f"{CHATS}/{chat.id}")
        assert (reply.status_code, reply.content) == (204, b"")
        assert made.chats.asked == [("delete", chat.id)]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "/messages"),
        ("GET", "/events"),
        ("GET", "/desktop"),
        ("POST", "/messages"),
        ("POST", "/interrupt"),
        ("POST", "/archive"),
        ("DELETE", ""),
    ],
)
def test_an_unknown_chat_is_not_found(tmp_path: Path, method: str, path: str) -> None:
    async def scenario() -> None:
        body = {"message": "a"} if path == "/messages" and method == "POST" else None
        async with control_plane(tmp_path).client() as client:
            reply = await client.request(method, f"{CHATS}/{UNKNOWN_CHAT}{path}", json=body)
        assert reply.status_code == 404
        assert reply.json() == {
            "message": "Chat not found.",
            "detail": f"no chat has the id {UNKNOWN_CHAT}",
        }

    asyncio.run(scenario())


def test_a_chat_without_a_desktop_has_none_to_show(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        async with made.client() as client:
            reply = await client.get(f"{CHATS}/{chat.id}/desktop")
        assert (reply.status_code, reply.json()) == (400, {"message": "Chat has no desktop."})

    asyncio.run(scenario())


def test_a_chats_desktop_is_a_websocket(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add(desktop_id="d1")
        async with made.client() as client:
            reply = await client.get(f"{CHATS}/{chat.id}/desktop")
        assert (reply.status_code, reply.headers["upgrade"]) == (426, "websocket")

    asyncio.run(scenario())


def test_a_question_is_answered(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add(state="requires_action")
        async with made.client() as client:
            path = f"{CHATS}/{chat.id}/answer"
            assert (await client.post(path, json={"answer": "Yes"})).json()["id"] == chat.id
            assert (await client.post(path, json={"answer": " "})).status_code == 400
            assert (await client.post(path, json={"text": "Yes"})).status_code == 400
            missing = await client.post(f"{CHATS}/{UNKNOWN_CHAT}/answer", json={"answer": "Yes"})
            assert missing.status_code == 404
        assert made.chats.asked == [("answer", chat.id, "Yes")]

    asyncio.run(scenario())


def test_a_later_answer_gets_the_first(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add(state="requires_action")
        made.chats.failure = QuestionClosed("q1", "answered", "approve", "Ann", 5.0)
        async with made.client() as client:
            body = {"answer": "refuse", "question": "q1"}
            reply = await client.post(f"{CHATS}/{chat.id}/answer", json=body)
        assert reply.status_code == 409
        assert reply.json() == {
            "message": "the question was answered already: approve",
            "first": {
                "question": "q1",
                "state": "answered",
                "answer": "approve",
                "answered_by": "Ann",
                "closed_at": 5.0,
            },
        }

    asyncio.run(scenario())


def test_a_chat_has_restrictions(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        wanted = {"approval": "every", "domains": ["example.com"], "look_only": True}
        async with made.client() as client:
            assert (await client.post(CHATS, json=wanted)).status_code == 201
            wrong = await client.post(CHATS, json={"approval": "never"})
        assert wrong.status_code == 400
        limits = ChatRestrictions("every", ("example.com",), True)
        assert made.chats.asked[0][1]["restrictions"] == limits

    asyncio.run(scenario())


def test_an_answer_without_a_question_is_a_conflict(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        made.chats.failure = IllegalMove("answer", "waiting")
        async with made.client() as client:
            reply = await client.post(f"{CHATS}/{chat.id}/answer", json={"answer": "Yes"})
        assert reply.status_code == 409
        assert "cannot answer" in reply.json()["message"]

    asyncio.run(scenario())


def test_everything_is_stopped_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.chats.add()
        async with made.client() as client:
            assert (await client.post("/api/v0/stop-all")).json() == {"stopped": 1}
        assert made.chats.asked == [("stop_all",)]

    asyncio.run(scenario())
