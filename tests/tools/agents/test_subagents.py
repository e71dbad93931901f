import asyncio
from pathlib import Path

from tests.tools.agents.fakes import ScriptedModel, act, plane, report


def test_spawn_then_wait_gives_the_report_and_the_recording(tmp_path: Path) -> None:
    async def scenario() -> None:
        child = ScriptedModel([[act("left_click", coordinate=[10, 20])], [report("All five hit")]])
        async with plane(tmp_path, {"child": child}) as p:
            caller = await p.caller()
            spawned = await p.tool("spawn_computer_use_agent", caller, prompt="Click five targets")
            assert spawned["status"] == "queued"
            assert spawned["title"] == "Click five targets"
            result = await p.tool("wait_agent", caller, chat_id=spawned["chat_id"])
            assert result["status"] == "waiting"
            assert (result["report"], result["outcome"]) == ("All five hit", "done")
            assert (result["recording_status"], result["end_reason"]) == ("stored", "completed")
            video = await p.files.get(result["recording_file_id"])
            assert (video.kind, video.media_type) == ("recording", "video/mp4")
            assert p.files.path(video.id).read_bytes().startswith(b"mp4 of")
            assert (await p.files.get(result["thumbnail_file_id"])).kind == "thumbnail"
            assert video.id in [file.id for file in await p.chats.files(caller)]

    asyncio.run(scenario())
