import asyncio
from typing import Any

import pytest

from deskhand.desktop.mcp.calls.recordings import RecordingCalls
from deskhand.desktop.mcp.errors import McpError
from tests.desktop.mcp.fakes import FakeDesktop, given

LIST, START = "GET /api/v0/desktop/recordings", "POST /api/v0/desktop/recording/start"
STOP = "POST /api/v0/desktop/recording/stop"
NEW = "5e0f3a52-0c1b-4f0e-9a34-0d8a4b9f6c11"
# The digest of the key "me" is its last group.
OWN = "5e0f3a52-0c1b-4f0e-9a34-2744ccd10c75"
OTHER = "00000000-0000-0000-0000-000000000000"


def one(name: str, status: str = "stored") -> dict[str, Any]:
    return {"id": name, "label": "demo", "status": status, "duration_s": 2.6}


def calls(fake: FakeDesktop) -> RecordingCalls:
    return RecordingCalls(fake, "me", lambda path: f"http://here{path}", lambda: NEW)


def test_a_recording_is_started_with_an_id_of_its_caller() -> None:
    fake = FakeDesktop({LIST: [{"recordings": []}, {"recordings": [one(OWN, "recording")]}]})
    fake.replies[START] = [{}]
    found = asyncio.run(
        calls(fake).recording(given("recording", {"action": "start", "label": "demo"}))
    )
    assert fake.sent(START) == [{"recording_id": OWN, "label": "demo"}]
    assert found.content["recordings"][0]["active"] is True
    video = f"http://here/api/v0/desktop/recordings/{OWN}/video"
    steps = f"deskhand://recordings/{OWN}"
    line = f'{OWN} "demo" (runs, 3 s): video {video}, steps {steps}'
    assert found.text == f"The screen is recorded.\n{line}"


def test_only_one_recording_of_a_caller_runs() -> None:
    fake = FakeDesktop({LIST: {"recordings": [one(OWN, "recording")]}})
    with pytest.raises(McpError, match="runs already"):
        asyncio.run(calls(fake).recording(given("recording", {"action": "start"})))


def test_a_caller_ends_its_own_recording_only() -> None:
    listed = {"recordings": [one(OWN, "recording"), one(OTHER, "recording")]}
    fake = FakeDesktop({LIST: listed, STOP: {}})
    found = asyncio.run(calls(fake).recording(given("recording", {"action": "stop"})))
    assert fake.sent(STOP) == [{"recording_id": OWN}]
    assert [row["id"] for row in found.content["recordings"]] == [OWN]
    others = FakeDesktop({LIST: {"recordings": [one(OTHER, "recording")]}})
    with pytest.raises(McpError, match="no recording of yours"):
        asyncio.run(calls(others).recording(given("recording", {"action": "stop"})))


def test_all_recordings_are_listed() -> None:
    bare = {"id": OTHER, "status": "stored"}
    fake = FakeDesktop({LIST: {"recordings": [one(OWN), bare]}})
    found = asyncio.run(calls(fake).recording(given("recording", {"action": "list"})))
    assert found.text.splitlines()[0] == "2 recordings."
    assert f"{OTHER} (ended, 0 s)" in found.text


def test_the_steps_of_a_recording_are_a_text() -> None:
    steps = [{"title": "Click"}, {"tool": "execute", "error": "no"}, {"action": "wait"}, {}]
    fake = FakeDesktop({LIST: {"recordings": [one(OWN)]}, f"{LIST}/{OWN}": {"steps": steps}})
    lines = asyncio.run(calls(fake).resource(OWN)).splitlines()
    assert lines[1:] == ["4 steps:", "1. Click", "2. execute - failed: no", "3. wait", "4. "]
    with pytest.raises(McpError, match="no recording other"):
        asyncio.run(calls(fake).resource("other"))
