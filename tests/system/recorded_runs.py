"""Data directories with runs whose recordings are as large as those of a day of work."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.store import files
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore
from deskhand.tools.store.files import FileFacts
from deskhand.tools.store.schema import ChatRow, TurnRow

RATE = 5
SIZE = (640, 360)


def noisy_video(path: Path, size: int) -> float:
    """Write a video of at least ``size`` bytes that a browser plays; return its seconds.

    Its frames are noise, which no encoder can compress.
    """
    width, height = SIZE
    chance = np.random.default_rng(1)
    count = 0
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        # Constant quantizer: about a byte for each pixel, whatever the frame shows.
        options = {"preset": "ultrafast", "g": "5", "bf": "0", "qp": "4"}
        stream = container.add_stream("libx264", rate=RATE, options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.time_base = Fraction(1, RATE)
        written = 0
        while written < size:
            pixels = chance.integers(0, 256, (height * 3 // 2, width), dtype=np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="yuv420p")):
                written += packet.size
                container.mux(packet)
            count += 1
        container.mux(stream.encode(None))
    return count / RATE


def add_recorded_runs(data: Path, ids: Sequence[str], video: Path, seconds: float) -> None:
    """Create a data directory with runs that ended, each with a recording of the same bytes."""
    data.mkdir(mode=0o700)
    added = _added(data, ids, video.read_bytes(), seconds)
    # The thread of a test may have an event loop already, that of its browser.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, added).result()


async def _added(data: Path, ids: Sequence[str], content: bytes, seconds: float) -> None:
    disk = FileStore(data / "files")
    # Of today: retention would remove older recordings.
    began = time.time() - 2 * seconds - 60
    facts = {"started_at": began, "video_s": seconds, "duration_s": seconds}
    metadata = facts | {"steps": [], "time_map": [[0.0, 0.0], [seconds, seconds]]}
    async with await Store.open(data / "deskhand.db") as store:
        for name in ids:
            stored = disk.save(content)

            async def add(session: AsyncSession, name: str = name, file: str = stored.id) -> None:
                at = {"created_at": began, "updated_at": began}
                ended = {"mode": "general", "state": "waiting", "turn": 1}
                session.add(ChatRow(id=name, root_id=name, title=f"recorded {name}", **ended, **at))
                await session.flush()
                recording = {"file_ids": [file], "status": "stored"}
                work = {"status": "done", "started_at": began, "ended_at": began + seconds}
                session.add(TurnRow(chat_id=name, number=1, recording=recording, **work))

            await store.write(add)
            described = FileFacts(
                name, "recording", "recording.mp4", "video/mp4", {"metadata": metadata}
            )
            await store.write(
                lambda s, stored=stored, facts=described: files.insert(s, stored, facts, began)  # type: ignore[misc]
            )
