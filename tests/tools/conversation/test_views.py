import json
from dataclasses import replace

from deskhand.tools.conversation.restrictions import ChatRestrictions
from deskhand.tools.conversation.views import (
    ChatView,
    FileView,
    MessageView,
    Page,
    StepView,
    UsageView,
)

CHAT = ChatView(
    id="c",
    title="Click",
    state="waiting",
    mode="computer_use",
    model="scripted:tour",
    parent_id="p",
    root_id="p",
    desktop_id="d",
    created_at=1.5,
    updated_at=2.5,
    recording_file_ids=("f1", "f2"),
    usage=UsageView(10, 5),
    children=("x",),
)


def test_a_chat_in_json_names_its_first_recording() -> None:
    shown = json.loads(json.dumps(CHAT.to_json()))
    assert shown["recording_file_id"] == "f1"
    assert shown["recording_file_ids"] == ["f1", "f2"]
    assert shown["children"] == ["x"]
    assert shown["usage"]["output_tokens"] == 5
    assert shown["created_at"] == 1.5


def test_a_chat_without_a_recording_names_none() -> None:
    bare = ChatView("c", "t", "waiting", "general", None, None, "c", None, 1.0, 1.0)
    assert bare.recording_file_id is None
    assert bare.to_json()["recording_file_ids"] == []


def test_a_page_names_the_next_cursor() -> None:
    shown = Page((CHAT,), "c").to_json()
    assert [chat["id"] for chat in shown["chats"]] == ["c"]
    assert shown["next_cursor"] == "c"


def test_steps_messages_and_files_are_plain_json() -> None:
    step = StepView(
        id="s",
        chat_id="c",
        index=0,
        turn=1,
        tool_call_id="t",
        tool="computer",
        title="left_click: 1, 2",
        action="left_click",
        arguments={"coordinate": [1, 2]},
        status="done",
        error=None,
        started_at=1.0,
        ended_at=2.0,
        timings={"act_ms": 1.0},
        details={"native_point": (1, 2)},
        screenshot_file_id="f",
        video_start=0.5,
        video_end=0.75,
    )
    assert json.loads(json.dumps(step.to_json()))["details"] == {"native_point": [1, 2]}
    message = MessageView(1, "c", None, "user", ({"type": "text", "text": "Hi"},), 1.0).to_json()
    assert (message["queued"], message["content"]) == (True, [{"type": "text", "text": "Hi"}])
    file = FileView("f", "c", "recording", "v.mp4", "video/mp4", 3, "00", 1.0, {"parts": 1})
    assert file.to_json()["metadata"] == {"parts": 1}


def test_a_chat_shows_its_restrictions() -> None:
    limits = replace(CHAT, approval="every", domains=("example.com",), look_only=True)
    assert limits.restrictions == ChatRestrictions("every", ("example.com",), look_only=True)
    assert limits.to_json()["domains"] == ["example.com"]
