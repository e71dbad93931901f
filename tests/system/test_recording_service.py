"""Recordings over the API of a desktop service, also when the service dies."""

import json
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.parser import BytesParser
from pathlib import Path

import psutil
import pytest

from deskhand.recording.library import metadata
from deskhand.recording.library.metadata import Part
from tests.recording.fakes import decoded
from tests.system.services import (
    DESKHAND,
    PATIENCE,
    Json,
    Service,
    client,
    service,
    service_pid,
    until,
)

pytestmark = pytest.mark.x11

A, B, C, D, E, F = (f"{digit}1111111-2222-3333-4444-555555555555" for digit in "abcdef")
RECORDINGS = "/api/v0/desktop/recordings"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path that every user may pass through."""
    with tempfile.TemporaryDirectory(prefix="dh-") as made:
        Path(made).chmod(0o711)
        yield Path(made) / "desktop"


def start(desktop: Service, name: str = A, status: int = 200) -> Json:
    return desktop.post("/api/v0/desktop/recording/start", {"recording_id": name}, status)


def stop(desktop: Service, name: str = A, status: int = 200) -> Json:
    return desktop.post("/api/v0/desktop/recording/stop", {"recording_id": name}, status)


def stir(desktop: Service, times: int = 3) -> None:
    """Do something that can be seen."""
    for turn in range(times):
        desktop.act(action="mouse_move", coordinate=[100 + 50 * turn, 100])


def fetched(desktop: Service, address: str, target: Path) -> Path:
    answer = desktop.http.get(address)
    assert answer.status_code == 200
    target.write_bytes(answer.content)
    return target


def probed(path: Path, *wanted: str) -> Json:
    found = subprocess.run(
        ["ffprobe", "-v", "error", *wanted, "-of", "json", str(path)],
        capture_output=True,
        check=True,
        timeout=3 * PATIENCE,
    )
    assert found.stderr == b""
    probed: Json = json.loads(found.stdout)
    return probed


def test_a_client_of_the_reference_gets_the_files_in_one_answer(
    desktop: Service, tmp_path: Path
) -> None:
    assert start(desktop) == {"message": "Recording started."}
    stir(desktop)
    answer = desktop.http.post(
        "/api/v0/desktop/recording/stop",
        json={"recording_id": A},
        headers={"Accept": "multipart/mixed"},
    )
    assert answer.status_code == 200
    assert int(answer.headers["content-length"]) == len(answer.content)
    head = f"Content-Type: {answer.headers['content-type']}\r\n\r\n".encode()
    message = BytesParser().parsebytes(head + answer.content)
    video, still = (piece for piece in message.walk() if not piece.is_multipart())
    assert (video.get_content_type(), still.get_content_type()) == ("video/mp4", "image/jpeg")
    path = tmp_path / "got.mp4"
    content = video.get_payload(decode=True)
    assert isinstance(content, bytes)
    path.write_bytes(content)
    (stream,) = probed(path, "-count_frames", "-show_streams")["streams"]
    assert (stream["width"], stream["height"]) == (1920, 1080)
    assert stream["nb_frames"] == stream["nb_read_frames"]


def test_the_index_comes_to_the_front_with_the_steps_as_chapters(
    desktop: Service, tmp_path: Path
) -> None:
    start(desktop)
    stir(desktop)
    facts = stop(desktop)
    path = tmp_path / "1.mp4"

    def moved() -> bool:
        data = fetched(desktop, facts["video_url"], path).read_bytes()
        assert len(data) == facts["bytes"]
        return data.index(b"moov") < data.index(b"mdat")

    until(moved, "the index in front")
    chapters = probed(path, "-show_chapters")["chapters"]
    assert [chapter["tags"]["title"] for chapter in chapters] == ["mouse_move"] * 3
    starts = [float(chapter["start_time"]) for chapter in chapters]
    assert starts == pytest.approx([step["video_start"] for step in facts["steps"]], abs=0.002)
    assert desktop.http.get(facts["steps_url"]).text.count("mouse_move") == 3


def test_parts_of_a_file_are_served_as_a_player_asks(desktop: Service) -> None:
    start(desktop)
    stop(desktop)
    address = f"{RECORDINGS}/{A}/video"
    whole = desktop.http.get(address)
    size, etag = len(whole.content), whole.headers["etag"]
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["content-disposition"].startswith('inline; filename="recording-')
    head = desktop.http.head(address)
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) == size
    some = desktop.http.get(address, headers={"Range": "bytes=4-7"})
    assert (some.status_code, some.content) == (206, b"ftyp")
    assert some.headers["content-range"] == f"bytes 4-7/{size}"
    beyond = desktop.http.get(address, headers={"Range": f"bytes={size}-"})
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{size}")
    same = desktop.http.get(address, headers={"If-None-Match": etag})
    # The index may have moved in between; then it is another file, and is sent.
    assert same.status_code == (304 if same.headers["etag"] == etag else 200)


def test_secrets_are_masked_wherever_a_recording_shows_typed_text(
    desktop: Service, tmp_path: Path
) -> None:
    secrets = "/api/v0/desktop/secrets"
    assert desktop.post(secrets, {"values": ["correct horse"]}) == {"count": 1}
    assert desktop.post(secrets, {"values": ["abc"]}, 400)["message"].startswith("These secrets")
    start(desktop)
    desktop.act(action="type", text="tom correct horse")
    now = time.time()
    step = {"tool_call_id": "7", "tool": "execute", "started": now, "ended": now}
    step |= {"title": "login correct horse", "error": "no correct horse here"}
    assert desktop.http.post(f"{RECORDINGS}/{A}/steps", json=step).status_code == 204
    facts = stop(desktop)
    assert [one["text"] for one in facts["steps"]] == ["tom ••••", ""]
    assert facts["steps"][1]["title"] == "login ••••"
    assert facts["steps"][1]["error"] == "no •••• here"
    vtt = desktop.http.get(facts["steps_url"]).text
    assert "type tom ••••" in vtt
    video = fetched(desktop, facts["video_url"], tmp_path / "1.mp4").read_bytes()
    served = [json.dumps(facts).encode(), vtt.encode(), video, desktop.errors.read_bytes()]
    assert not any(b"correct horse" in each for each in served)
    assert desktop.http.delete(secrets).status_code == 204
    assert desktop.get(secrets) == {"count": 0}


def test_a_reader_keeps_what_was_deleted_meanwhile(desktop: Service) -> None:
    start(desktop)
    stop(desktop)
    whole = desktop.http.get(f"{RECORDINGS}/{A}/video").content
    with desktop.http.stream("GET", f"{RECORDINGS}/{A}/video") as reading:
        assert desktop.http.delete(f"{RECORDINGS}/{A}").status_code == 204
        assert len(reading.read()) == len(whole)
    for what in ("", "/video", "/thumbnail", "/steps.vtt", "/clip"):
        assert desktop.http.get(f"{RECORDINGS}/{A}{what}").status_code == 404
    assert desktop.http.delete(f"{RECORDINGS}/{A}").status_code == 404


def test_ranges_that_players_and_caches_send_are_answered(desktop: Service) -> None:
    start(desktop)
    facts = stop(desktop)
    address = facts["video_url"]

    def settled() -> str | None:
        # Until the index has moved to the front, the tag may change under us.
        whole = desktop.http.get(address)
        front = whole.content.index(b"moov") < whole.content.index(b"mdat")
        return str(whole.headers["etag"]) if front else None

    etag = until(settled, "the index in front")
    size = facts["bytes"]
    for asked, status, content_range in (
        ({"Range": "bytes=-4"}, 206, f"bytes {size - 4}-{size - 1}/{size}"),
        ({"Range": "bytes=0-1,4-7"}, 200, None),
        ({"Range": "bytes=7-4"}, 200, None),
        ({"Range": "bytes=4-7", "If-Range": etag}, 206, f"bytes 4-7/{size}"),
        ({"Range": "bytes=4-7", "If-Range": '"another"'}, 200, None),
        ({"If-None-Match": etag}, 304, None),
        ({"If-None-Match": '"another"'}, 200, None),
    ):
        answer = desktop.http.get(address, headers=asked)
        found = (answer.status_code, answer.headers.get("content-range"))
        assert found == (status, content_range), asked


def test_bad_requests_are_refused_with_the_reason(desktop: Service) -> None:
    path = "/api/v0/desktop/recording/"
    for verb in ("start", "stop"):
        for body, expected in (
            (b"{", {"message": "Failed to decode request body."}),
            (b"{}", {"message": "Missing recording_id."}),
            (
                b'{"recording_id": "7"}',
                {
                    "message": "Invalid recording_id format.",
                    "detail": "recording_id must be a valid UUID.",
                },
            ),
        ):
            answer = desktop.http.post(
                path + verb, content=body, headers={"Content-Type": "application/json"}
            )
            assert (answer.status_code, answer.json()) == (400, expected)
    unknown = {"message": "Recording not found.", "detail": "unknown recording ID"}
    assert stop(desktop, "f9999999-2222-3333-4444-555555555555", 404) == unknown


def test_a_sixth_recording_is_a_conflict_and_changes_nothing(desktop: Service) -> None:
    for name in (A, B, C, D, E):
        start(desktop, name)
    assert start(desktop, F, 409) == {
        "message": "Failed to start recording.",
        "detail": "too many concurrent recordings (max 5)",
    }
    stir(desktop)
    for name in (A, B, C, D, E):
        facts = stop(desktop, name)
        assert (facts["status"], facts["complete"]) == ("stored", True)
        assert [step["action"] for step in facts["steps"]] == ["mouse_move"] * 3
    stop(desktop, F, 404)


def test_starts_and_stops_in_any_order_leave_whole_recordings(desktop: Service) -> None:
    names = [f"{number:08x}-2222-3333-4444-555555555555" for number in range(4)]

    def work(seed: int) -> None:
        chance = random.Random(seed)
        with client(desktop.ready) as http:
            for _ in range(6):
                verb = chance.choice(("start", "stop"))
                body = {"recording_id": chance.choice(names)}
                answer = http.post(f"/api/v0/desktop/recording/{verb}", json=body)
                assert answer.status_code in ({200, 404} if verb == "stop" else {200})

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    for name in names:
        start(desktop, name)
        assert stop(desktop, name)["complete"]
    for one in desktop.get(RECORDINGS)["recordings"]:
        assert one["status"] == "stored"
        assert all(part["bytes"] > 0 for part in one["parts"])


def test_fifty_readers_of_a_long_video_need_little_memory(folder: Path, tmp_path: Path) -> None:
    size = 60_000_000
    home = folder / "recordings" / A
    home.mkdir(parents=True)
    part = Part(recording_id=A, index=1, session_number=1, label="", started_at=1e9, size=size)
    (home / "1.json").write_text(metadata.document(part))
    (home / "1.mp4").write_bytes(b"")
    os.truncate(home / "1.mp4", size)
    with service(tmp_path / "errors.log", "desktop", "--folder", str(folder)) as desktop:
        process = psutil.Process(service_pid(desktop.process.pid))
        before = process.memory_info().rss
        barrier, enough = threading.Barrier(51), threading.Event()

        def read() -> None:
            with desktop.http.stream("GET", f"{RECORDINGS}/{A}/video") as video:
                assert len(next(video.iter_raw(65536))) > 0
                barrier.wait(PATIENCE)
                enough.wait(PATIENCE)

        with ThreadPoolExecutor(50) as pool:
            readers = [pool.submit(read) for _ in range(50)]
            barrier.wait(PATIENCE)
            grown = process.memory_info().rss - before
            enough.set()
            for reader in readers:
                reader.result()
        assert grown < 80_000_000, f"{grown} bytes for 50 readers"


def test_when_the_display_dies_what_was_recorded_is_kept(tmp_path: Path) -> None:
    with service(tmp_path / "errors.log", "desktop") as desktop:
        start(desktop)
        stir(desktop)
        os.kill(desktop.get("/api/v0/desktop")["xserver"]["pid"], signal.SIGKILL)
        until(lambda: desktop.get(f"{RECORDINGS}/{A}")["status"] == "stored", "the end")
        facts = stop(desktop)
        assert (facts["end_reason"], facts["complete"]) == ("display_lost", False)
        assert len(decoded(fetched(desktop, facts["video_url"], tmp_path / "1.mp4"))) > 1
        start_again = {"recording_id": B}
        # Until the next display is there, this is refused.
        until(
            lambda: desktop.http.post(f"{RECORDINGS[:-1]}/start", json=start_again).is_success,
            "a recording of the next display",
        )
        assert stop(desktop, B)["end_reason"] == "completed"


@pytest.mark.slow("two services, one after the other")
def test_sigterm_closes_what_is_recorded_and_the_next_service_has_it(
    folder: Path, tmp_path: Path
) -> None:
    options = ("--folder", str(folder))
    with service(tmp_path / "1.log", "desktop", *options, program=(DESKHAND,)) as desktop:
        start(desktop)
        stir(desktop)
        desktop.process.terminate()
        assert desktop.process.wait(PATIENCE) == 0
    document = metadata.read((folder / "recordings" / A / "1.json").read_text())
    assert (document.end_reason, document.complete) == ("closed", True)
    with service(tmp_path / "2.log", "desktop", "--folder", str(folder)) as desktop:
        facts = stop(desktop)
        assert (facts["status"], facts["end_reason"]) == ("stored", "closed")
        assert len(facts["steps"]) == 3
        assert decoded(fetched(desktop, facts["video_url"], tmp_path / "1.mp4"))
        start(desktop)
        assert stop(desktop)["take"] == 2
        assert desktop.http.delete(f"{RECORDINGS}/{A}").status_code == 204
    assert not (folder / "recordings" / A).exists()


@pytest.mark.soak
@pytest.mark.slow("two services, one after the other")
@pytest.mark.parametrize("whom", ["service", "keeper"])
def test_what_a_killed_service_recorded_is_found_by_the_next(
    folder: Path, tmp_path: Path, whom: str
) -> None:
    with service(tmp_path / "1.log", "desktop", "--folder", str(folder)) as desktop:
        start(desktop)
        stir(desktop)
        written = folder / "recordings" / A / "1.mp4"
        until(lambda: written.exists() and written.stat().st_size > 3000, "something on the disk")
        keeper = psutil.Process(desktop.process.pid)
        os.kill(service_pid(keeper.pid) if whom == "service" else keeper.pid, signal.SIGKILL)
        desktop.process.wait(PATIENCE)
    until(lambda: not keeper.is_running(), "the end of the keeper")
    # Without namespaces the service outlives its keeper, and closes its recordings.
    closed = whom == "keeper" and os.geteuid() != 0
    journal = folder / "recordings" / A / "1.journal"
    if closed:
        until(lambda: not journal.exists(), "the end of the service")
    with service(tmp_path / "2.log", "desktop", "--folder", str(folder)) as desktop:
        facts = desktop.get(f"{RECORDINGS}/{A}")
        assert (facts["status"], facts["end_reason"]) == (
            "stored",
            "closed" if closed else "service_lost",
        )
        assert facts["complete"] is closed
        assert decoded(fetched(desktop, facts["video_url"], tmp_path / "1.mp4"))
        assert desktop.http.get(facts["thumbnail_url"]).content.startswith(b"\xff\xd8")
