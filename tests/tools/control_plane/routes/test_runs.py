import asyncio
from pathlib import Path
from uuid import uuid4

from tests.tools.control_plane.fakes import chat_view, control_plane


def test_recordings_are_listed_newest_first_with_title_length_and_thumbnail(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        first = made.files.add(
            kind="recording",
            size=100,
            metadata={"id": "c", "started_at": 1.0, "video_s": 3.25, "duration_s": 60.0},
        )
        second = made.files.add(
            kind="recording",
            size=50,
            metadata={"id": "c", "started_at": 90.0, "video_s": 1.0, "duration_s": 5.0},
        )
        old = made.chats.add(
            title="Old",
            parent_id="p",
            outcome="done",
            recording_status="stored",
            end_reason="completed",
            complete=True,
            step_count=7,
            recording_file_ids=(first.id, second.id),
            thumbnail_file_id="t1",
        )
        made.chats.add(title="Without")
        made.chats.add(title="New", recording_file_ids=("lost",))
        async with made.client() as client:
            body = (await client.get("/api/v0/recordings")).json()
        assert [r["title"] for r in body["recordings"]] == ["New", "Old"]
        assert body["next_cursor"] is None
        assert body["recordings"][0]["video_s"] is None
        assert body["recordings"][1] == {
            "chat_id": old.id,
            "parent_id": "p",
            "title": "Old",
            "outcome": "done",
            "recording_status": "stored",
            "end_reason": "completed",
            "complete": True,
            "created_at": 1.0,
            "step_count": 7,
            "recording_file_id": first.id,
            "recording_file_ids": [first.id, second.id],
            "thumbnail_file_id": "t1",
            "thumbnail_url": "api/v0/files/t1",
            "run_url": f"runs/{old.id}",
            "bytes": 150,
            "video_s": 4.25,
            "duration_s": 65.0,
            "pinned": False,
        }

    asyncio.run(scenario())


def test_recordings_come_in_pages_over_many_chats(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        for number in range(230):
            recorded = number % 100 == 0
            ids = (str(number),) if recorded else ()
            made.chats.add(title=str(number), recording_file_ids=ids)
        async with made.client() as client:
            first = (await client.get("/api/v0/recordings", params={"limit": 2})).json()
            asked = {"limit": 2, "cursor": first["next_cursor"]}
            second = (await client.get("/api/v0/recordings", params=asked)).json()
        assert [r["title"] for r in first["recordings"]] == ["200", "100"]
        assert [r["title"] for r in second["recordings"]] == ["0"]
        assert second["next_cursor"] is None

    asyncio.run(scenario())


def test_a_run_is_shown_whole(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        video = made.files.add(
            kind="recording",
            name="run.mp4",
            media_type="video/mp4",
            size=9,
            metadata={"video_s": 2.0, "steps": [{"index": 0, "video_start": 0.5}]},
        )
        child = made.chats.add(title="Child")
        chat = made.chats.add(
            recording_file_ids=(video.id, "lost"), thumbnail_file_id="t", children=(child.id,)
        )
        async with made.client() as client:
            body = (await client.get(f"/api/v0/runs/{chat.id}")).json()
        assert body["chat"]["id"] == chat.id
        assert body["chat"]["steps"] == []
        assert body["changed_turns"] == [2]
        assert body["recordings"] == [
            {
                "file_id": video.id,
                "url": f"api/v0/files/{video.id}",
                "name": "run.mp4",
                "media_type": "video/mp4",
                "bytes": 9,
                "created_at": 1.0,
                "pinned": False,
                "metadata": {"video_s": 2.0, "steps": [{"index": 0, "video_start": 0.5}]},
                "part": 0,
                "video_s": 2.0,
                "chapters_url": f"api/v0/recordings/{chat.id}/steps.vtt?part=1",
            }
        ]
        assert body["thumbnail_url"] == "api/v0/files/t"
        assert body["children"] == [chat_view(id=child.id, title="Child").to_json()]

    asyncio.run(scenario())


def test_a_run_without_a_video_is_shown_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = made.chats.add()
        async with made.client() as client:
            body = (await client.get(f"/api/v0/runs/{chat.id}")).json()
        assert (body["recordings"], body["thumbnail_url"], body["children"]) == ([], None, [])

    asyncio.run(scenario())


def test_an_unknown_run_is_not_found(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with control_plane(tmp_path).client() as client:
            reply = await client.get(f"/api/v0/runs/{uuid4()}")
        assert (reply.status_code, reply.json()["message"]) == (404, "Chat not found.")

    asyncio.run(scenario())


def test_a_run_is_pinned_with_all_parts_of_its_recording(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        recording, still = made.files.add(kind="recording"), made.files.add(kind="thumbnail")
        run = made.chats.add(recording_file_ids=("lost", recording.id), thumbnail_file_id=still.id)
        bare = made.chats.add()
        async with made.client() as client:
            address = f"/api/v0/runs/{run.id}/pin"
            pinned = (await client.put(address)).json()
            assert pinned == {
                "chat_id": run.id,
                "pinned": True,
                "file_ids": [recording.id, still.id],
            }
            assert made.files.known[still.id].pinned
            (listed,) = (await client.get("/api/v0/recordings")).json()["recordings"]
            assert listed["pinned"] is True
            (shown,) = (await client.get(f"/api/v0/runs/{run.id}")).json()["recordings"]
            assert shown["pinned"] is True
            assert (await client.delete(address)).json()["pinned"] is False
            assert not made.files.known[recording.id].pinned
            assert (await client.put(f"/api/v0/runs/{bare.id}/pin")).status_code == 404
            assert (await client.put(f"/api/v0/runs/{uuid4()}/pin")).status_code == 404

    asyncio.run(scenario())


def test_a_run_whose_recordings_were_removed_cannot_be_pinned(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        run = made.chats.add(recording_file_ids=("lost",))
        async with made.client() as client:
            assert (await client.put(f"/api/v0/runs/{run.id}/pin")).status_code == 404

    asyncio.run(scenario())
