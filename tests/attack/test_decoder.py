"""A desktop delivers videos that hang or fill the memory of the program that decodes them."""

import asyncio
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import av
import httpx2
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.recovery import rows
from deskhand.tools.store import turns
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.files import FileFacts
from tests.attack.crafted_picture import CHAT, bomb, endless, fill_conversation
from tests.live_trees import owners_below
from tests.system.services import PATIENCE, Json, Service, service, until
from tests.tools.store.fakes import chat_row

pytestmark = [pytest.mark.attack, pytest.mark.root]

GROWTH = 300_000
"""KiB by which the memory of the control plane may grow while a video is decoded."""
TOUR = "scripted:tour"
NAMESPACES = ("net", "mnt", "pid", "ipc", "user")
VIDEOS = ("good", "hangs", "huge")
SOON = {"DESKHAND_DECODER_SECONDS": "2"}
"""CPU time after which a worker that hangs is ended."""


def encoded(path: Path, width: int, height: int, frames: int) -> None:
    options = {"preset": "ultrafast", "bf": "0", "g": "1000"}
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10, options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for _ in range(frames):
            frame = av.VideoFrame(width, height, "yuv420p")
            for plane in frame.planes:
                plane.update(bytes([128]) * plane.buffer_size)
            for packet in stream.encode(frame):
                container.mux_one(packet)
        for packet in stream.encode():
            container.mux_one(packet)


def with_samples(data: bytes, count: int) -> bytes:
    """Return a video whose tables promise ``count`` frames of one byte."""
    changed = bytearray(data)

    def patch(kind: bytes, at: int, *values: int) -> None:
        begin = data.index(kind) + 8 + at
        struct.pack_into(f">{len(values)}I", changed, begin, *values)

    patch(b"stsz", 0, 1, count)
    patch(b"stts", 0, 1, count)
    patch(b"stsc", 0, 1, 1, count)
    return bytes(changed)


def ordinary(folder: Path) -> Path:
    path = folder / "good.mp4"
    encoded(path, 320, 180, 8)
    return path


def craft(folder: Path) -> dict[str, Path]:
    paths = {name: folder / f"{name}.mp4" for name in VIDEOS} | {"good": ordinary(folder)}
    paths["hangs"].write_bytes(with_samples(paths["good"].read_bytes(), 3_000_000))
    encoded(paths["huge"], 16384, 8192, 1)
    assert max(path.stat().st_size for path in paths.values()) < 10_000_000
    return paths


async def fill(data: Path, videos: dict[str, Path]) -> None:
    """Store a chat with a recording for each video."""
    disk = FileStore(data / "files")
    async with await Store.open(data / "deskhand.db") as store:

        async def write(db: AsyncSession) -> None:
            for name, path in videos.items():
                chat = chat_row(name)
                db.add(chat)
                await db.flush()
                turn = await turns.begin(db, chat, 5.0)
                turn.status, turn.ended_at = "done", 9.0
                stored = disk.link(path, f"video-{name}")
                metadata = described(name)
                facts = FileFacts(
                    chat_id=name,
                    kind="recording",
                    name=path.name,
                    media_type="video/mp4",
                    details=metadata,
                    listed_with=name,
                )
                await rows.add_session(db, name, metadata, [(stored, facts)], None, time.time())

        await store.write(write)


def described(name: str) -> Json:
    step = {"tool_call_id": "a", "tool": "computer", "title": "", "index": 0, "chat_id": name}
    return {
        "id": name,
        "take": 1,
        "started_at": time.time(),
        "duration_s": 0.8,
        "video_s": 0.8,
        "end_reason": "completed",
        "complete": True,
        "parts": [{"index": 1, "video_start": 0.0, "bytes": 0, "end_reason": "completed"}],
        "steps": [step | {"video_start": 0.0, "video_end": 0.5, "error": None}],
        "time_map": [[0.0, 0.0], [0.8, 0.8]],
    }


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("decoder")
    data = folder / "data"
    (data / "files").mkdir(parents=True)
    asyncio.run(fill(data, craft(folder)))
    arguments = ("up", "--listen", "127.0.0.1:0", "--data-dir", str(data))
    with service(folder / "errors.log", *arguments, environment=SOON) as found:
        yield found


def picture(plane: Service, name: str, patience: float = 3 * PATIENCE) -> httpx2.Response:
    return plane.http.get(f"/api/v0/recordings/{name}/steps/0/picture", timeout=patience)


def memory(plane: Service) -> int:
    """Return the most memory that the control plane itself has had, in KiB."""
    status = Path(f"/proc/{plane.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.slow("a video hangs until the limit of its worker")
@pytest.mark.parametrize("name", ["hangs", "huge"])
def test_a_crafted_video_causes_one_422_and_nothing_else(plane: Service, name: str) -> None:
    # The control: an ordinary video has a picture, and a clip.
    assert picture(plane, "good").headers["content-type"] == "image/jpeg"
    before, processes = memory(plane), len(owners_below(plane.process.pid))
    assert picture(plane, name).status_code == 422
    assert memory(plane) < before + GROWTH
    # The decoder, and a spare worker for the next request.
    until(lambda: len(owners_below(plane.process.pid)) == processes, "the worker's end")
    assert picture(plane, "good").status_code == 200
    assert plane.http.get("/healthz").status_code == 200
    assert plane.http.get("/api/v0/recordings/good/clip?from=0&to=0.5").status_code == 200


@pytest.mark.slow("a video hangs until the limit of its worker")
def test_a_worker_has_no_rights(plane: Service) -> None:
    status, workers = hanging(plane)
    assert status == 422
    own = Path("/proc/self/ns")
    for found in workers:
        for kind in ("net", "mnt", "pid", "ipc"):
            assert found[kind] != str((own / kind).readlink()), kind
        assert found["CapEff"] == "0" * 16
        assert found["NoNewPrivs"] == "1"
        assert "0" not in found["Uid"].split()
        assert found["root"] == "['work']"


@pytest.mark.slow("a picture fills the memory of a worker, or hangs until its limit")
@pytest.mark.parametrize(
    ("crafted", "reason"),
    [
        (bomb, "it needs too much memory"),
        (endless, "its decoding took too much time or memory"),
    ],
)
def test_a_crafted_screenshot_causes_one_422_and_nothing_else(
    tmp_path: Path, crafted: Callable[[], bytes], reason: str
) -> None:
    data = tmp_path / "data"
    (data / "files").mkdir(parents=True)
    asyncio.run(fill(data, {"good": ordinary(tmp_path)}))
    asyncio.run(fill_conversation(data, crafted()))
    arguments = ("up", "--listen", "127.0.0.1:0", "--data-dir", str(data), "--model", TOUR)
    with service(tmp_path / "errors.log", *arguments, environment=SOON) as plane:
        check_screenshot(plane, reason)


def check_screenshot(plane: Service, reason: str) -> None:
    """Check that the chat whose model decodes the crafted screenshot fails, and that alone."""
    # The control plane resumes the chat when it starts.
    refused = until(lambda: plane.get(f"/api/v0/chats/{CHAT}").get("last_error"), "the refusal")
    assert "422" in refused, refused
    assert f"a picture: {reason}" in refused, refused
    assert memory(plane) < 3 * GROWTH
    assert plane.http.get("/healthz").status_code == 200
    assert picture(plane, "good").status_code == 200
    answers = plane.get(f"/api/v0/chats/{CHAT}")
    assert answers["last_error"] == refused


def hanging(plane: Service) -> tuple[int, list[dict[str, str]]]:
    """Ask for the clip that hangs; return the status, and what is known about the workers."""
    url, headers = f"{plane.url}/api/v0/recordings/hangs/clip", plane.http.headers
    with httpx2.Client(timeout=3 * PATIENCE) as client:
        request = client.build_request("GET", url, params={"to": "0.5"}, headers=headers)
        return asyncio.run(workers_of(plane, client, request))


async def workers_of(
    plane: Service, client: httpx2.Client, request: httpx2.Request
) -> tuple[int, list[dict[str, str]]]:
    """Send a request; return its status, and what is known about its worker and the spare one."""
    asking = asyncio.create_task(asyncio.to_thread(client.send, request))

    own = command(plane.process.pid)

    def confined() -> list[dict[str, str]]:
        # Desktops are below the control plane too; workers are forked without exec.
        forked = (pid for pid in owners_below(plane.process.pid) if command(pid) == own)
        found = [facts(Path(f"/proc/{pid}")) for pid in forked]
        workers = [one for one in found if one.get("NoNewPrivs") == "1"]
        return workers if len(workers) == 2 else []

    workers: list[dict[str, str]] = await asyncio.to_thread(until, confined, "the workers")
    return (await asking).status_code, workers


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def facts(process: Path) -> dict[str, str]:
    try:
        lines = (process / "status").read_text().splitlines()
        known = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        spaces = {n: str((process / "ns" / n).readlink()) for n in NAMESPACES}
        root = str([path.name for path in (process / "root").iterdir()])
    except OSError:
        return {}
    return known | spaces | {"root": root}
