"""The contact sheet and the animations of a run."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from deskhand.recording.errors import RecordingFailed
from deskhand.tools.run_pictures.api import LARGEST_VIDEO
from tests.tools.control_plane.fakes import control_plane
from tests.tools.control_plane.routes.test_recordings import recorded


def test_a_sheet_shows_the_steps_of_all_recordings(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = recorded(made)
        async with made.client() as client:
            answer = await client.get(f"/api/v0/runs/{chat.id}/sheet.png?columns=2")
            second = await client.get(f"/api/v0/runs/{chat.id}/sheet.png?columns=2&steps=2")
        assert answer.headers["content-type"] == "image/png"
        first, other = "'1 Look at call-0', None, False", "'2 Look at call-1', None, False"
        assert answer.text == f"2 first 2 [{first}], other 2 [{other}]"
        assert second.text == f"2 other 2 [{other}]"

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("query", "status"),
    [("steps=some", 400), ("columns=0", 400), ("columns=9", 400), ("steps=failed", 404)],
)
def test_what_cannot_be_shown_is_refused(tmp_path: Path, query: str, status: int) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = recorded(made)
        async with made.client() as client:
            answer = await client.get(f"/api/v0/runs/{chat.id}/sheet.png?{query}")
            without = await client.get(f"/api/v0/runs/{made.chats.add().id}/sheet.png")
        assert answer.status_code == status, answer.text
        assert without.status_code == 404
        assert made.editor.made == 0

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_a_clip_may_be_an_animation_and_is_made_once(tmp_path: Path, kind: str) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = recorded(made)
        path = f"/api/v0/recordings/{chat.id}/clip?format={kind}&from=1&to=6&width=320"
        async with made.client() as client:
            both = await asyncio.gather(client.get(path), client.get(path))
            again = await client.get(path, headers={"If-None-Match": both[0].headers["ETag"]})
            other = await client.get(path.replace("to=6", "to=5"))
            wide = await client.get(path.replace("320", "9999"))
        assert {one.text for one in both} == {f"{kind} 320 first 1-4, other 0-2"}
        assert both[0].headers["content-type"] == f"image/{kind}"
        assert (again.status_code, wide.status_code) == (304, 400)
        assert other.text.endswith("other 0-1")
        assert made.editor.made == 2

    asyncio.run(scenario())


def test_a_picture_that_cannot_be_kept_is_sent_nevertheless(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.files.full = True
        chat = recorded(made)
        async with made.client() as client:
            answers = [
                await client.get(f"/api/v0/runs/{chat.id}/sheet.png"),
                await client.get(f"/api/v0/recordings/{chat.id}/clip?format=gif"),
            ]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert await made.files.pictures(chat.id) == []

    asyncio.run(scenario())


def test_pictures_go_with_the_recordings(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = recorded(made)
        async with made.client() as client:
            await client.get(f"/api/v0/runs/{chat.id}/sheet.png")
            assert len(await made.files.pictures(chat.id)) == 1
            await client.delete(f"/api/v0/recordings/{chat.id}")
        assert await made.files.pictures(chat.id) == []

    asyncio.run(scenario())


def test_a_recording_that_cannot_be_decoded_is_no_picture(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        made.editor.failure = RecordingFailed("broken")
        chat = recorded(made)
        async with made.client() as client:
            cut = await client.get(f"/api/v0/recordings/{chat.id}/clip?from=0&to=1")
            sheet = await client.get(f"/api/v0/runs/{chat.id}/sheet.png")
            moving = await client.get(f"/api/v0/recordings/{chat.id}/clip?format=gif")
        assert {sheet.status_code, moving.status_code} == {cut.status_code}
        assert await made.files.pictures(chat.id) == []

    asyncio.run(scenario())


def test_a_report_is_one_file_with_the_pictures_of_its_steps(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = recorded(made)
        path = f"/api/v0/runs/{chat.id}/report.html"
        async with made.client() as client:
            answers = [await client.get(path) for _ in range(2)]
            without = await client.get(f"/api/v0/runs/{made.chats.add().id}/report.html")
        assert [answer.status_code for answer in (*answers, without)] == [200, 200, 200]
        assert answers[0].text == answers[1].text
        assert "default-src 'none'" in answers[0].headers["content-security-policy"]
        assert made.editor.made == 1

    asyncio.run(scenario())


def test_a_trail_has_the_clicks_on_the_picture_after_the_last_one(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = recorded(made)
        path = f"/api/v0/runs/{chat.id}/trail.png"
        async with made.client() as client:
            answers = [await client.get(path) for _ in range(2)]
            first = await client.get(f"{path}?steps=1")
            refused = [
                (await client.get(f"{path}?steps={steps}")).status_code
                for steps in ("failed", "0", "many")
            ]
        assert {answer.text for answer in answers} == {"other 2 []"}
        assert first.text == "first 2 []"
        assert refused == [404, 400, 400]
        assert made.editor.made == 2
        assert len(await made.files.pictures(chat.id)) == 2

    asyncio.run(scenario())


def test_a_waterfall_has_totals_rows_and_advice(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = recorded(made)
        async with made.client() as client:
            found = (await client.get(f"/api/v0/runs/{chat.id}/waterfall")).json()
            unknown = await client.get(f"/api/v0/runs/{'0' * 36}/waterfall")
        assert set(found) == {"seconds", "totals", "rows", "advice"}
        assert unknown.status_code == 404

    asyncio.run(scenario())


def test_a_report_has_the_run_video_if_it_is_wanted_and_small(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        made = control_plane(tmp_path)
        chat = recorded(made)
        path = f"/api/v0/runs/{chat.id}/report.html?video=1"
        async with made.client() as client:
            whole = await client.get(path)
            without = await client.get(f"/api/v0/runs/{made.chats.add().id}/report.html?video=1")
            one = chat.recording_file_ids[0]
            made.files.known[one] = replace(made.files.known[one], size=LARGEST_VIDEO)
            large = await client.get(path)
        assert whole.text.count("<video") == 2
        assert "data:video/mp4;base64,Zmlyc3Q=" in whole.text
        assert "media-src data:" in whole.headers["content-security-policy"]
        assert "no recording" in without.text
        assert "<video" not in large.text
        assert "34 MB" in large.text

    asyncio.run(scenario())
