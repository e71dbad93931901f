"""The client over a real server and a control plane of fakes."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from deskhand import AsyncClient, NoControlPlane, NoRecording, RunNotStarted, RunTimeout
from tests.desktop.serving import serving
from tests.tools.client.fakes import FakePlane

Scenario = Callable[[AsyncClient, FakePlane], Awaitable[None]]


def run(scenario: Scenario) -> None:
    async def main() -> None:
        plane = FakePlane()
        async with (
            asyncio.timeout(20),
            serving(plane.app) as address,
            AsyncClient.connect(address, "token") as client,
        ):
            await scenario(client, plane)
            plane.events.put_nowait(None)

    asyncio.run(main())


def test_a_task_is_started_with_what_is_given_only() -> None:
    async def scenario(client: AsyncClient, plane: FakePlane) -> None:
        started = await client.run("Do it", model="m", budget={"steps": 3}, look_only=True)
        assert plane.bodies == [
            {"prompt": "Do it", "model": "m", "budget": {"steps": 3}, "look_only": True}
        ]
        assert repr(started) == "Run('c1')"
        assert started.url.endswith("/runs/c1")

    run(scenario)


def test_a_task_that_is_not_accepted_says_why() -> None:
    async def scenario(client: AsyncClient, plane: FakePlane) -> None:
        plane.spawned = {"error": "there is no model 'x'"}
        with pytest.raises(RunNotStarted, match="no model 'x'"):
            await client.run("Do it", model="x")

    run(scenario)


def test_a_wait_ends_when_the_state_says_so_and_not_with_other_events() -> None:
    async def scenario(client: AsyncClient, plane: FakePlane) -> None:
        waiting = asyncio.create_task(client.get("c1").wait(15))
        await plane.watched.wait()
        plane.events.put_nowait(("text", {"text": "I click"}))
        plane.events.put_nowait(("status", {}))
        plane.run |= {"state": "waiting", "outcome": "done", "report": "It is done."}
        plane.events.put_nowait(("status", {}))
        ended = await waiting
        assert (ended.done, ended.report) == (True, "It is done.")
        assert await client.get("c1").report() == "It is done."

    run(scenario)


def test_a_wait_survives_the_end_of_the_stream() -> None:
    async def scenario(client: AsyncClient, plane: FakePlane) -> None:
        waiting = asyncio.create_task(client.get("c1").wait())
        await plane.watched.wait()
        plane.run |= {"state": "requires_action", "requires_action": {"question": "Which?"}}
        plane.events.put_nowait(None)
        asked = (await waiting).question
        assert asked is not None
        assert asked.text == "Which?"

    run(scenario)


def test_a_wait_ends_at_its_timeout() -> None:
    async def scenario(client: AsyncClient, plane: FakePlane) -> None:
        with pytest.raises(RunTimeout, match="not ended") as caught:
            await client.get("c1").wait(0)
        assert isinstance(caught.value, TimeoutError)

    run(scenario)


def test_messages_answers_and_stops_reach_the_run() -> None:
    async def scenario(client: AsyncClient, plane: FakePlane) -> None:
        found = client.get("c1")
        await (await found.say("Faster", interrupt=True)).answer("yes")
        await found.stop()
        assert plane.bodies == [
            {"action": "messages", "message": "Faster", "interrupt": True},
            {"action": "answer", "answer": "yes"},
            {"action": "interrupt"},
        ]

    run(scenario)


def test_all_parts_of_a_recording_are_saved_as_one_video(tmp_path: Path) -> None:
    async def scenario(client: AsyncClient, plane: FakePlane) -> None:
        recording = client.get("c1").recording
        assert (await recording.save(tmp_path / "a.mp4")).read_bytes() == b"video"
        plane.parts = 2
        assert (await recording.save(tmp_path / "a.mp4")).read_bytes() == b"clip"
        section = await recording.clip(tmp_path / "b.mp4", 1, 2.5)
        assert section.read_bytes() == b"clip from=1.000&to=2.500"
        moving = await recording.clip(tmp_path / "b.gif", 0, 1, width=320)
        assert moving.read_bytes() == b"clip from=0.000&to=1.000&format=gif&width=320"
        plane.parts = 0
        with pytest.raises(NoRecording, match="c1"):
            await recording.save(tmp_path / "c.mp4")
        assert not (tmp_path / "c.mp4").exists()

    run(scenario)


def test_without_a_control_plane_the_error_names_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DESKHAND_URL", "DESKHAND_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NoControlPlane, match=str(tmp_path)):
        AsyncClient.connect(data_dir=tmp_path)


def test_a_client_that_is_not_open_says_how_to_open_it() -> None:
    with pytest.raises(NoControlPlane, match="inside of its with block"):
        asyncio.run(AsyncClient.connect("http://127.0.0.1:1", "token").status())
