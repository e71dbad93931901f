import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from deskhand.recording.errors import RecordingFailed
from deskhand.tools.conversation.views import ChatView
from tests.tools.control_plane.fakes import ControlPlaneFixture, control_plane

ROOT = "/api/v0/recordings"


def described(started_at: float, name: str) -> dict[str, Any]:
    step = {
        "index": 0,
        "tool_call_id": name,
        "title": f"Look at {name}",
        "video_start": 1.0,
        "video_end": 2.0,
    }
    return {
        "id": "c",
        "started_at": started_at,
        "video_s": 4.0,
        "duration_s": 9.0,
        "steps": [step],
        "time_map": [[0.0, 0.0], [9.0, 4.0]],
    }


def recorded(made: ControlPlaneFixture, *, elsewhere: bool = False) -> ChatView:
    """Put in a chat with two recordings and their thumbnail."""
    ids = []
    for number, data in enumerate((b"first", b"other")):
        file = made.files.add(
            None if elsewhere else data,
            kind="recording",
            name="run.mp4",
            media_type="video/mp4",
            size=len(data),
            sha256=f"{number}" * 64,
            metadata=described(100.0 * number, f"call-{number}"),
        )
        if elsewhere:
            made.files.elsewhere[file.id] = data
        ids.append(file.id)
    still = made.files.add(b"still", kind="thumbnail", media_type="image/jpeg", sha256="9" * 64)
    return made.chats.add(
        recording_file_ids=tuple(ids),
        thumbnail_file_id=still.id,
        recording_status="stored",
        end_reason="completed",
        complete=True,
    )


def test_stored_recordings_are_one_run_video(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = recorded(made)
        async with made.client() as client:
            body = (await client.get(f"{ROOT}/{chat.id}")).json()
            video = await client.get(f"/{body['parts'][1]['video_url']}")
        address = f"api/v0/recordings/{chat.id}"
        first, second = chat.recording_file_ids
        assert video.content == b"other"
        assert [s.pop("picture_url") for s in body["steps"]] == [
            f"{address}/steps/0/picture",
            f"{address}/steps/1/picture",
        ]
        assert [s["video_start"] for s in body.pop("steps")] == [1.0, 5.0]
        part = {"bytes": 5, "video_s": 4.0, "end_reason": None}
        assert body.pop("parts") == [
            {
                **part,
                "index": 1,
                "file_id": first,
                "video_start": 0.0,
                "video_url": f"{address}/video?part=1",
            },
            {
                **part,
                "index": 2,
                "file_id": second,
                "video_start": 4.0,
                "video_url": f"{address}/video?part=2",
            },
        ]
        assert body == {
            "id": chat.id,
            "status": "stored",
            "end_reason": "completed",
            "complete": True,
            "started_at": 0.0,
            "duration_s": 18.0,
            "video_s": 8.0,
            "bytes": 10,
            "pinned": False,
            "time_map": [[0.0, 0.0], [9.0, 4.0], [100.0, 4.0], [109.0, 8.0]],
            "video_url": f"{address}/video?part=1",
            "thumbnail_url": f"{address}/thumbnail",
            "steps_url": f"{address}/steps.vtt",
        }

    asyncio.run(scenario())


PARTS = ("video", "video?part=2", "thumbnail", "clip?from=1&to=5", "steps/1/picture", "steps.vtt")


@pytest.mark.parametrize("what", PARTS)
def test_a_known_tag_is_a_304_and_a_head_has_the_length(tmp_path: Path, what: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        address = f"{ROOT}/{recorded(made).id}/{what}"
        async with made.client() as client:
            whole = await client.get(address)
            head = await client.head(address)
            known = {"If-None-Match": whole.headers["etag"]}
            again = await client.get(address, headers=known)
        assert whole.status_code == 200
        assert (head.status_code, head.content) == (200, b"")
        assert int(head.headers["content-length"]) == len(whole.content)
        assert head.headers["content-type"] == whole.headers["content-type"]
        assert (again.status_code, again.content) == (304, b"")
        assert whole.headers["cache-control"] == "private, no-cache"
        assert whole.headers["content-security-policy"] == "sandbox; default-src 'none'"

    asyncio.run(scenario())


def test_a_clip_that_the_client_has_is_not_cut_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        address = f"{ROOT}/{recorded(made).id}/clip?from=1&to=5"
        async with made.client() as client:
            whole = await client.get(address)
            made.editor.failure = RecordingFailed("it is cut")
            known = {"If-None-Match": whole.headers["etag"]}
            again = await client.get(address, headers=known)
            assert again.status_code == 304
            same = ("etag", "cache-control", "content-disposition")
            assert [again.headers[name] for name in same] == [whole.headers[name] for name in same]
            other = await client.get(address, headers={"If-None-Match": '"other"'})
            assert other.status_code == 409

    asyncio.run(scenario())


@pytest.mark.parametrize("elsewhere", [False, True])
def test_players_are_answered_in_ranges(tmp_path: Path, elsewhere: bool) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        address = f"{ROOT}/{recorded(made, elsewhere=elsewhere).id}"
        async with made.client() as client:
            for what, content in (("video?part=2", b"th"), ("clip?from=0&to=8", b"ir")):
                path = f"{address}/{what}"
                some = await client.get(path, headers={"Range": "bytes=1-2"})
                assert (some.status_code, some.content) == (206, content)
                beyond = await client.get(path, headers={"Range": "bytes=99-"})
                assert beyond.status_code == 416

    asyncio.run(scenario())


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_clip_is_cut_over_several_files_wherever_they_are(
    tmp_path: Path, elsewhere: bool
) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        address = f"{ROOT}/{recorded(made, elsewhere=elsewhere).id}"
        async with made.client() as client:
            clip = await client.get(f"{address}/clip", params={"from": 3, "to": 5})
            saved = await client.get(f"{address}/clip", params={"download": True})
            still = await client.get(f"{address}/steps/1/picture")
        assert clip.content == b"first 3-4, other 0-1"
        assert clip.headers["content-type"] == "video/mp4"
        assert saved.content == b"first 0-4, other 0-4"
        assert saved.headers["content-disposition"].startswith('attachment; filename="clip-')
        assert still.content == b"other at 2"

    asyncio.run(scenario())
    assert list(tmp_path.glob("incoming-*")) == []


def test_chapters_are_of_the_run_video_or_of_one_file(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        address = f"{ROOT}/{recorded(made).id}/steps.vtt"
        async with made.client() as client:
            whole = await client.get(address)
            second = await client.get(address, params={"part": 2})
        assert whole.headers["content-type"] == "text/vtt; charset=utf-8"
        assert whole.text == (
            "WEBVTT\n\n"
            "1\n00:00:01.000 --> 00:00:05.000\nLook at call-0\n\n"
            "2\n00:00:05.000 --> 00:00:08.000\nLook at call-1\n"
        )
        assert second.text == "WEBVTT\n\n1\n00:00:01.000 --> 00:00:04.000\nLook at call-1\n"

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("what", "status", "message"),
    [
        ("video?part=3", 404, "Part not found."),
        ("steps.vtt?part=0", 404, "Part not found."),
        ("steps/2/picture", 404, "Step not found."),
        ("clip?from=8", 400, "Failed to cut clip."),
        ("clip?from=3&to=2", 400, "Failed to cut clip."),
        ("clip?from=-1", 400, "Request is not valid."),
        ("clip?from=nan", 400, "Request is not valid."),
    ],
)
def test_missing_parts_of_a_run_video_are_reported(
    tmp_path: Path, what: str, status: int, message: str
) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        async with made.client() as client:
            reply = await client.get(f"{ROOT}/{recorded(made).id}/{what}")
        assert (reply.status_code, reply.json()["message"]) == (status, message)

    asyncio.run(scenario())


@pytest.mark.parametrize("what", ["", *(f"/{part}" for part in PARTS)])
def test_a_run_without_a_recording_has_none_of_it(tmp_path: Path, what: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        bare = made.chats.add(recording_file_ids=("lost",))
        async with made.client() as client:
            reply = await client.get(f"{ROOT}/{bare.id}{what}")
            unknown = await client.get(f"{ROOT}/{uuid4()}{what}")
        assert (reply.status_code, reply.json()["message"]) == (404, "Recording not found.")
        assert (unknown.status_code, unknown.json()["message"]) == (404, "Chat not found.")

    asyncio.run(scenario())


def test_a_missing_thumbnail_is_reported(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        recording = made.files.add(kind="recording", metadata=described(1.0, "x"))
        chat = made.chats.add(recording_file_ids=(recording.id,))
        async with made.client() as client:
            reply = await client.get(f"{ROOT}/{chat.id}/thumbnail")
        assert (reply.status_code, reply.json()["message"]) == (404, "Thumbnail not found.")

    asyncio.run(scenario())


@pytest.mark.parametrize("what", ["clip", "steps/0/picture"])
def test_what_cannot_be_cut_is_a_conflict(tmp_path: Path, what: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.editor.failure = RecordingFailed("its parts have different sizes")
        async with made.client() as client:
            reply = await client.get(f"{ROOT}/{recorded(made).id}/{what}")
        assert reply.status_code == 409
        assert reply.json() == {
            "message": "The recording cannot be cut.",
            "detail": "its parts have different sizes",
        }

    asyncio.run(scenario())


def test_a_person_removes_a_recording_and_the_run_stays(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = recorded(made)
        await made.files.delete(chat.thumbnail_file_id or "")
        bare = made.chats.add(recording_file_ids=(made.files.add(metadata={}).id,))
        async with made.client() as client:
            assert (await client.delete(f"{ROOT}/{chat.id}")).status_code == 204
            assert (await client.delete(f"{ROOT}/{bare.id}")).status_code == 204
            assert (await client.get(f"{ROOT}/{chat.id}")).status_code == 404
            assert (await client.get(f"/api/v0/runs/{chat.id}")).status_code == 200
        assert made.files.known == {}

    asyncio.run(scenario())
