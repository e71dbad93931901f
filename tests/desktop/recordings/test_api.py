import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from email.parser import BytesParser
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from deskhand.desktop.recordings.api import router
from deskhand.recording.library.catalog import Catalog, Clip
from deskhand.recording.pipeline.recorder import Recorder
from deskhand.recording.settings import RecordingSettings
from deskhand.vncbridge.http.add_routes import add_routes
from tests.recording.fakes import WAIT, FakeSource, decoded, marked

A, B, C, D, E, F = (f"{digit}1111111-2222-3333-4444-555555555555" for digit in "abcdef")
DESKTOP = "/api/v0/desktop"


class Service:
    """The routes over a real recorder and an imagined screen."""

    def __init__(self, client: httpx2.AsyncClient, source: FakeSource, folder: Path) -> None:
        self.client = client
        self.source = source
        self.folder = folder
        self.closing = False

    async def start(self, name: object = A) -> httpx2.Response:
        return await self.client.post("/recording/start", json={"recording_id": name})

    async def stop(self, name: object = A, accept: str = "*/*") -> httpx2.Response:
        return await self.client.post(
            "/recording/stop", json={"recording_id": name}, headers={"Accept": accept}
        )

    async def resting_video(self) -> httpx2.Response:
        """The video once its index is in front, so that it is replaced no more."""
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            answer = await self.get(f"/{A}/video")
            if answer.content.index(b"moov") < answer.content.index(b"mdat"):
                return answer
        raise AssertionError("the index stays behind the frames")

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        return await self.client.get(f"/recordings{path}", headers=headers)


@asynccontextmanager
async def service(
    folder: Path, free_to_start: int = 0, catalog: type[Catalog] = Catalog
) -> AsyncIterator[Service]:
    source = FakeSource(marked(1))
    settings = RecordingSettings(free_to_start=free_to_start, free_to_go_on=0, free_share=1.0)
    app = FastAPI()
    transport = httpx2.ASGITransport(app=app)
    with Recorder(source, folder, settings) as recorder:
        async with httpx2.AsyncClient(
            transport=transport, base_url=f"http://desktop{DESKTOP}"
        ) as client:
            running = Service(client, source, folder)
            add_routes(app, router(recorder, catalog(folder), lambda: running.closing))
            yield running


def run(
    folder: Path,
    scenario: Callable[[Service], Awaitable[None]],
    *,
    free_to_start: int = 0,
    catalog: type[Catalog] = Catalog,
) -> None:
    async def main() -> None:
        async with service(folder, free_to_start, catalog) as running:
            await scenario(running)

    asyncio.run(main())


def test_a_recording_is_started_stopped_and_fetched(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        assert (await desktop.start()).json() == {"message": "Recording started."}
        assert (await desktop.start()).status_code == 200
        await asyncio.to_thread(desktop.source.show, marked(2))
        stopped = await desktop.stop()
        assert stopped.status_code == 200
        facts = stopped.json()
        assert (facts["id"], facts["status"]) == (A, "stored")
        video = await desktop.client.get(f"http://desktop{facts['video_url']}")
        assert video.headers["content-type"] == "video/mp4"
        assert len(video.content) == facts["bytes"]
        path = desktop.folder / "fetched.mp4"
        path.write_bytes(video.content)
        assert decoded(path)[0] == (0.0, 1)
        again = await desktop.stop()
        assert again.json() == facts

    run(tmp_path, scenario)


def test_stop_sends_the_files_themselves_on_request(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        answer = await desktop.stop(accept="multipart/mixed")
        assert int(answer.headers["content-length"]) == len(answer.content)
        head = f"Content-Type: {answer.headers['content-type']}\r\n\r\n".encode()
        message = BytesParser().parsebytes(head + answer.content)
        video, still = (part for part in message.walk() if not part.is_multipart())
        assert video.get_content_type() == "video/mp4"
        content = video.get_payload(decode=True)
        assert isinstance(content, bytes)
        assert len(content) == (await desktop.get(f"/{A}")).json()["bytes"]
        path = desktop.folder / "sent.mp4"
        path.write_bytes(content)
        assert decoded(path)[0] == (0.0, 1)
        assert still.get_content_type() == "image/jpeg"

    run(tmp_path, scenario)


def test_byte_ranges_of_a_video_can_be_requested(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        await desktop.stop()
        whole = await desktop.resting_video()
        part = await desktop.get(f"/{A}/video", Range="bytes=4-7")
        assert (part.status_code, part.content) == (206, b"ftyp")
        assert part.headers["content-range"] == f"bytes 4-7/{len(whole.content)}"
        assert part.headers["etag"] == whole.headers["etag"]
        head = await desktop.client.head(f"/recordings/{A}/video")
        assert (head.content, int(head.headers["content-length"])) == (b"", len(whole.content))
        beyond = await desktop.get(f"/{A}/video", Range="bytes=99999999-")
        assert beyond.status_code == 416

    run(tmp_path, scenario)


def test_a_client_with_the_current_video_gets_not_modified(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        await desktop.stop()
        first = await desktop.resting_video()
        etag = first.headers["etag"]
        again = await desktop.get(f"/{A}/video", **{"If-None-Match": etag})
        assert (again.status_code, again.content) == (304, b"")
        other = await desktop.get(f"/{A}/video", Range="bytes=0-3", **{"If-Range": '"old"'})
        assert (other.status_code, len(other.content)) == (200, len(first.content))
        head = await desktop.client.head(f"/recordings/{A}/video", headers={"Range": "bytes=0-3"})
        assert (head.status_code, head.headers["content-length"]) == (206, "4")

    run(tmp_path, scenario)


def test_a_clip_is_cut_exactly(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        for number in range(2, 12):
            await asyncio.to_thread(desktop.source.show, marked(number))
        facts = (await desktop.stop()).json()
        whole = decoded(Catalog(desktop.folder).video(A))
        begin, end = whole[3][0] + 0.001, whole[8][0] + 0.001
        clip = await desktop.get(f"/{A}/clip?from={begin}&to={end}")
        assert (clip.status_code, clip.headers["content-type"]) == (200, "video/mp4")
        path = desktop.folder / "clip.mp4"
        path.write_bytes(clip.content)
        assert [number for _, number in decoded(path)] == [n for _, n in whole[3:9]]
        assert (await desktop.get(f"/{A}/clip")).status_code == 200
        for bad in (f"from={facts['video_s'] + 1}", "from=2&to=1"):
            refused = await desktop.get(f"/{A}/clip?{bad}")
            assert refused.status_code == 400
            assert refused.json()["detail"]["message"] == "Failed to cut clip."
        assert not list((desktop.folder / A).glob("*.clip"))

    run(tmp_path, scenario)


def test_each_step_has_a_picture(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        begun = (await desktop.get(f"/{A}")).json()["started_at"]
        report = {"tool": "execute", "started": begun, "ended": begun + 0.1}
        await desktop.client.post(f"/recordings/{A}/steps", json=report)
        (step,) = (await desktop.stop()).json()["steps"]
        shown = await desktop.client.get(f"http://desktop{step['picture_url']}")
        assert shown.headers["content-type"] == "image/jpeg"
        assert shown.content.startswith(b"\xff\xd8")
        missing = await desktop.get(f"/{A}/steps/1/picture")
        assert missing.status_code == 404
        error = {"message": "Step not found.", "detail": "the recording has no step 1"}
        assert missing.json()["detail"] == error

    run(tmp_path, scenario)


def test_a_missing_part_of_a_recording_is_named(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        address = f"/recordings/{A}"
        answers = {
            "thumbnail": await desktop.get(f"/{A}/thumbnail"),
            "part 99": await desktop.get(f"/{A}/video?part=99"),
            "step 7": await desktop.get(f"/{A}/steps/7/picture"),
            "take 9": await desktop.client.delete(f"{address}?take=9"),
        }
        for what, answer in answers.items():
            error = answer.json()["detail"]
            assert (answer.status_code, error["detail"]) == (404, f"the recording has no {what}")
            assert error["message"] == f"{what.split()[0].capitalize()} not found."

    run(tmp_path, scenario)


def test_every_file_supports_head_and_conditional_requests(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        begun = (await desktop.get(f"/{A}")).json()["started_at"]
        report = {"tool": "execute", "started": begun, "ended": begun}
        await desktop.client.post(f"/recordings/{A}/steps", json=report)
        await desktop.stop()
        await desktop.resting_video()
        for path in ("video", "thumbnail", "steps.vtt", "steps/0/picture", "clip?from=0&to=9"):
            address = f"/{A}/{path}"
            whole = await desktop.get(address)
            etag = whole.headers["etag"]
            again = await desktop.get(address, **{"If-None-Match": etag})
            assert (again.status_code, again.content) == (304, b""), path
            head = await desktop.client.head(f"/recordings{address}")
            assert (head.status_code, head.content) == (200, b""), path
            assert head.headers["etag"] == etag, path
            assert int(head.headers["content-length"]) == len(whole.content), path

    run(tmp_path, scenario)


def test_a_clip_that_is_requested_again_is_the_same(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        for number in range(2, 9):
            await asyncio.to_thread(desktop.source.show, marked(number))
        await desktop.stop()
        await desktop.resting_video()
        first, again, other = [
            await desktop.get(f"/{A}/clip?from=0.01&to={end}") for end in (0.3, 0.3, 0.2)
        ]
        assert first.content == again.content
        tags = [clip.headers["etag"] for clip in (first, again, other)]
        assert tags[0] == tags[1] != tags[2]
        valid = {"Range": "bytes=4-7", "If-Range": tags[0]}
        part = await desktop.get(f"/{A}/clip?from=0.01&to=0.3", **valid)
        assert (part.status_code, part.content) == (206, b"ftyp")

    run(tmp_path, scenario)


class NotCutting(Catalog):
    def clip(self, recording_id: str, start: float, end: float | None) -> Clip:
        raise AssertionError("a clip was cut")


def test_a_clip_that_the_client_has_is_not_cut_again(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        await asyncio.to_thread(desktop.source.show, marked(2))
        await desktop.stop()
        await desktop.resting_video()
        tag = Catalog(desktop.folder).clip_tag(A, 0.0, None)
        known = {"If-None-Match": f'"{tag}"'}
        again = await desktop.get(f"/{A}/clip", **known)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == f'"{tag}"'

    run(tmp_path, scenario, catalog=NotCutting)


def test_a_file_that_vanishes_in_between_is_not_found(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        await desktop.stop()
        (desktop.folder / A / "1.jpg").unlink()
        assert (await desktop.get(f"/{A}/thumbnail")).status_code == 404

    run(tmp_path, scenario)


def test_recorded_content_is_never_rendered_as_a_page(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        await desktop.stop()
        kinds = {"video": "video/mp4", "thumbnail": "image/jpeg", "steps.vtt": "text/vtt"}
        for name, kind in kinds.items():
            answer = await desktop.get(f"/{A}/{name}")
            assert answer.headers["content-type"].split(";")[0] == kind
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"

    run(tmp_path, scenario)


@pytest.mark.parametrize("verb", ["start", "stop"])
@pytest.mark.parametrize(
    ("body", "message", "detail"),
    [
        (b"", "Failed to decode request body.", None),
        (b"{", "Failed to decode request body.", None),
        (b"\xff", "Failed to decode request body.", None),
        (b"[]", "Failed to decode request body.", None),
        (b"[" * 100_000, "Failed to decode request body.", None),
        (b'{"label": "\\ud800"}', "Failed to decode request body.", None),
        (b'{"recording_id": 7}', "Failed to decode request body.", None),
        (b"{}", "Missing recording_id.", None),
        (b'{"recording_id": ""}', "Missing recording_id.", None),
        (b'{"recording_id": null}', "Missing recording_id.", None),
        (b'{"recording_id": "x", "label": false}', "Failed to decode request body.", None),
        (
            b'{"recording_id": "x", "label": "' + 2001 * b"x" + b'"}',
            '"label" must have at most 2000 characters.',
            None,
        ),
        (b'{"recordingId": "x"}', 'Unknown field "recordingId".', "there are recording_id, label"),
        (
            b'{"recording_id": "../x"}',
            "Invalid recording_id format.",
            "recording_id must be a valid UUID.",
        ),
    ],
)
def test_bad_requests_get_the_documented_errors(
    tmp_path: Path, verb: str, body: bytes, message: str, detail: str | None
) -> None:
    async def scenario(desktop: Service) -> None:
        answer = await desktop.client.post(f"/recording/{verb}", content=body)
        assert answer.status_code == 400
        expected = {"message": message} | ({"detail": detail} if detail else {})
        assert answer.json()["detail"] == expected

    run(tmp_path, scenario)


def test_unknown_recordings_are_not_found(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        answers = [
            await desktop.stop(),
            await desktop.get(f"/{A}"),
            await desktop.get(f"/{A}/video"),
            await desktop.get(f"/{A}/thumbnail"),
            await desktop.get(f"/{A}/steps.vtt"),
            await desktop.client.delete(f"/recordings/{A}"),
            await desktop.client.post(f"/recordings/{A}/steps", json={"started": 1, "ended": 2}),
        ]
        expected = {"message": "Recording not found.", "detail": "unknown recording ID"}
        for answer in answers:
            assert (answer.status_code, answer.json()["detail"]) == (404, expected)

    run(tmp_path, scenario)


def test_a_sixth_recording_is_a_conflict(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        for name in (A, B, C, D, E):
            assert (await desktop.start(name)).status_code == 200
        answer = await desktop.start(F)
        assert answer.status_code == 409
        assert answer.json()["detail"]["detail"] == "too many concurrent recordings (max 5)"

    run(tmp_path, scenario)


def test_a_full_disk_is_named_and_has_no_other_effect(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        answer = await desktop.start()
        assert answer.status_code == 507
        error = answer.json()["detail"]
        assert error["message"] == "Failed to start recording."
        assert error["detail"].startswith("the disk is too full: ")
        assert (await desktop.stop()).status_code == 404
        assert (await desktop.get("")).json() == {"recordings": []}

    run(tmp_path, scenario, free_to_start=1 << 62)


def test_a_closing_service_refuses_to_start(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        desktop.closing = True
        for answer in (await desktop.start(), await desktop.stop()):
            assert answer.status_code == 503
            assert answer.json()["detail"] == {"message": "Desktop API is shutting down."}

    run(tmp_path, scenario)


def test_a_display_that_is_gone_is_a_failure(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        desktop.source.lose()
        while (await desktop.get(f"/{A}")).json()["status"] == "recording":
            pass
        facts = (await desktop.stop()).json()
        assert (facts["end_reason"], facts["complete"]) == ("display_lost", False)

    run(tmp_path, scenario)


def test_recordings_are_listed_and_deleted(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start(A)
        await desktop.start(B)
        await desktop.stop(A)
        listed = (await desktop.get("")).json()["recordings"]
        assert {one["id"]: one["status"] for one in listed} == {A: "stored", B: "recording"}
        running = await desktop.client.delete(f"/recordings/{B}")
        assert running.status_code == 409
        assert (await desktop.client.delete(f"/recordings/{A}")).status_code == 204
        assert (await desktop.get(f"/{A}")).status_code == 404

    run(tmp_path, scenario)


def test_one_session_of_a_recording_can_be_deleted(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        takes = []
        for _ in range(3):
            await desktop.start()
            takes.append((await desktop.stop()).json()["take"])
        assert takes == [1, 2, 3]
        path = f"/recordings/{A}"
        assert (await desktop.client.delete(f"{path}?take=2")).status_code == 204
        assert (await desktop.client.delete(f"{path}?take=2")).status_code == 404
        names = {file.stem for file in (desktop.folder / A).glob("*.mp4")}
        assert names == {"1", "3"}
        await desktop.start()
        assert (await desktop.client.delete(f"{path}?take=4")).status_code == 409
        assert (await desktop.client.delete(f"{path}?take=3")).status_code == 204
        assert (await desktop.stop()).json()["take"] == 4
        assert (await desktop.client.delete(path)).status_code == 204
        assert list(desktop.folder.iterdir()) == []

    run(tmp_path, scenario)


def test_steps_of_other_services_join_those_of_the_desktop(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        begun = (await desktop.get(f"/{A}")).json()["started_at"]
        report = {
            "tool_call_id": "t1",
            "tool": "execute",
            "title": "Run the tests",
            "started": begun,
            "ended": begun + 1,
            "error": "exit 1",
        }
        answer = await desktop.client.post(
            f"/recordings/{A}/steps", json=report, headers={"Coder-Chat-Id": "chat"}
        )
        assert answer.status_code == 204
        (step,) = (await desktop.stop()).json()["steps"]
        assert (step["tool"], step["chat_id"], step["error"]) == ("execute", "chat", "exit 1")
        assert "Run the tests (failed)" in (await desktop.get(f"/{A}/steps.vtt")).text

    run(tmp_path, scenario)


@pytest.mark.parametrize(
    "report",
    [
        {"started": 1},
        {"started": "1", "ended": "2"},
        {"started": True, "ended": True},
        {"started": -1, "ended": 2},
        {"started": 1.8e12, "ended": 1.8e12},
        {"started": 1, "ended": 2, "tool": "x" * 201},
        {"started": 1, "ended": 2, "duration": 1},
    ],
)
def test_an_invalid_report_is_refused(tmp_path: Path, report: object) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        answer = await desktop.client.post(f"/recordings/{A}/steps", json=report)
        assert answer.status_code == 422
        assert (await desktop.stop()).json()["steps"] == []

    run(tmp_path, scenario)


def test_a_step_during_which_the_clock_was_set_back_is_kept(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        await desktop.start()
        begun = (await desktop.get(f"/{A}")).json()["started_at"]
        report = {"tool": "execute", "started": begun + 0.2, "ended": begun + 0.1}
        answer = await desktop.client.post(f"/recordings/{A}/steps", json=report)
        assert answer.status_code == 204
        (step,) = (await desktop.stop()).json()["steps"]
        assert step["started_at"] == step["ended_at"]

    run(tmp_path, scenario)


def test_a_bad_id_in_an_address_is_refused(tmp_path: Path) -> None:
    async def scenario(desktop: Service) -> None:
        answer = await desktop.get("/nonsense/video")
        assert answer.status_code == 400
        assert answer.json()["detail"]["message"] == "Invalid recording_id format."

    run(tmp_path, scenario)


def test_each_operation_has_an_id_of_its_own(tmp_path: Path) -> None:
    async def scenario(service: Service) -> None:
        # A warning of FastAPI's, and so an error here, if two have the same.
        answer = await service.client.get("http://desktop/openapi.json")
        video = answer.json()["paths"][f"{DESKTOP}/recordings/{{recording_id}}/video"]
        assert set(video) == {"get", "head"}
        assert video["get"]["operationId"] != video["head"]["operationId"]

    run(tmp_path, scenario)


def test_the_openapi_document_has_the_media_types(tmp_path: Path) -> None:
    async def scenario(service: Service) -> None:
        paths = (await service.client.get("http://desktop/openapi.json")).json()["paths"]
        one = f"{DESKTOP}/recordings/{{recording_id}}"
        for part, media_type in (("video", "video/mp4"), ("thumbnail", "image/jpeg")):
            for method in ("get", "head"):
                responses = paths[f"{one}/{part}"][method]["responses"]
                assert (
                    list(responses["200"]["content"])
                    == list(responses["206"]["content"])
                    == [media_type]
                )
                assert {"304", "416"} <= set(responses)
        assert list(paths[f"{one}/steps.vtt"]["get"]["responses"]["200"]["content"]) == ["text/vtt"]
        stopped = paths[f"{DESKTOP}/recording/stop"]["post"]["responses"]["200"]["content"]
        assert set(stopped) == {"application/json", "multipart/mixed"}
        started = paths[f"{DESKTOP}/recording/start"]["post"]["requestBody"]["content"]
        label = started["application/json"]["schema"]["properties"]["label"]
        assert label["type"] == ["string", "null"]

    run(tmp_path, scenario)
