"""The control plane's end of the decoder: videos, recordings and pictures of desktops.

The bytes come of agents, and the libraries that decode them are large. So they are decoded by
workers that see nothing else (`confinement`), live for one request, and end with it. Results of a
worker are checked like everything that an agent has written.
"""

import logging
import os
import re
import socket
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

from deskhand.recording.errors import RecordingFailed
from deskhand.tools.recovery.ports import FinishedSession

from . import process
from .confinement import WORKER_UID
from .errors import DecoderEnded, NotDecodable
from .folders import lent
from .messages import (
    CLIP,
    MIB,
    PICTURE,
    PICTURES,
    RECORDING,
    VIDEO,
    DecodeReply,
    DecodeRequest,
    read_reply,
    request_bytes,
)

log = logging.getLogger(__name__)

LONGEST_START = 20.0
GRACE = 5.0
"""Seconds after the deadline of a worker until its decoder counts as dead."""
SPARE = 64 * MIB
"""Bytes by which a file may grow when it is finished or cut."""
PIECE = 1 << 20
_VIDEO = re.compile(r"\d{1,6}\.mp4")
_THUMBNAIL = re.compile(r"\d{1,6}\.jpg")


class Decoder:
    """The decoder process of one control plane; open it before the process has threads.

    All methods block, and may be called by several threads.
    """

    def __init__(self, cpu_seconds: int = VIDEO.cpu_seconds) -> None:
        """``cpu_seconds`` is the limit for a picture, and for a clip or a moment of a video."""
        self._video = replace(VIDEO, cpu_seconds=cpu_seconds)
        self._picture = replace(PICTURE, cpu_seconds=cpu_seconds)
        self._channel: socket.socket | None = None
        self._process = 0
        self.refusal = ""
        """Why workers have no namespaces of their own; empty if they have."""

    def open(self) -> None:
        """Fork the decoder process."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = os.fork()
            if not self._process:
                process.run(theirs.fileno())
        self._channel = ours
        ours.settimeout(LONGEST_START)
        ready = ours.recv(4096)
        if not ready.startswith(process.READY):
            raise DecoderEnded
        self.refusal = ready.removeprefix(process.READY).decode(errors="replace")
        if self.refusal:
            log.warning("the decoder has no namespaces: %s", self.refusal)

    @property
    def process(self) -> int:
        """Pid of the decoder process."""
        return self._process

    def close(self) -> None:
        """End the decoder process and its workers; idempotent."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
            with suppress(ChildProcessError):
                os.waitpid(self._process, 0)

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def cut(self, stretches: Sequence[tuple[Path, float, float]], target: Path) -> None:
        """Write stretches of videos, in seconds, one behind the other into a new one.

        Raises:
            RecordingError: If a video cannot be read, or the videos do not fit together.
            NotDecodable: If that takes too much time or memory.
        """
        videos = list(dict.fromkeys(video for video, _, _ in stretches))
        pieces = [[videos.index(video), begin, end] for video, begin, end in stretches]
        room = sum(video.stat().st_size for video, _, _ in stretches) + SPARE
        request = DecodeRequest("cut", {"stretches": pieces}, replace(self._video, file=room))
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            folder = Path(scratch)
            with lent(folder, _worker_uid()):
                _checked(self._ask(replace(request, folder=scratch), videos))
            try:
                (folder / CLIP).replace(target)
            except FileNotFoundError as error:
                raise NotDecodable("it gave no clip") from error

    def still(self, video: Path, at: float) -> bytes:
        """Return a small JPEG of a moment; raise the same as :meth:`cut`."""
        return _checked(self._ask(DecodeRequest("still", {"at": at}, self._video), [video])).data

    def sprite(
        self,
        moments: Sequence[tuple[Path, float]],
        *,
        columns: int,
        tile: tuple[int, int],
        exact: bool,
    ) -> bytes:
        """Return a JPEG with a small frame of each moment; raise the same as :meth:`cut`."""
        videos = list(dict.fromkeys(video for video, _ in moments))
        places = [[videos.index(video), at] for video, at in moments]
        arguments = {"moments": places, "columns": columns, "tile": tile, "exact": exact}
        return _checked(self._ask(DecodeRequest("sprite", arguments, self._video), videos)).data

    def animate(
        self,
        stretches: Sequence[tuple[Path, float, float]],
        kind: str,
        width: int,
        most_bytes: int,
    ) -> bytes:
        """Return stretches of videos as a ``gif`` or ``webp``; raise the same as :meth:`cut`."""
        videos = list(dict.fromkeys(video for video, _, _ in stretches))
        pieces = [[videos.index(video), begin, end] for video, begin, end in stretches]
        arguments = {"stretches": pieces, "format": kind, "width": width, "most_bytes": most_bytes}
        return _checked(self._ask(DecodeRequest("animate", arguments, PICTURES), videos)).data

    def sheet(
        self,
        cells: Sequence[tuple[Path, float, str, tuple[float, float] | None, bool]],
        columns: int,
    ) -> bytes:
        """Return a contact sheet, PNG; raise the same as :meth:`cut`.

        A cell is a video, seconds of it, the caption, where a click was, and whether it failed.
        """
        videos = list(dict.fromkeys(video for video, *_ in cells))
        listed = [[videos.index(video), *facts] for video, *facts in cells]
        request = DecodeRequest("sheet", {"cells": listed, "columns": columns}, PICTURES)
        return _checked(self._ask(request, videos)).data

    def crops(
        self, moments: Sequence[tuple[Path, float, tuple[float, float] | None]]
    ) -> list[bytes]:
        """Return a small JPEG of each moment, around a point; raise the same as :meth:`cut`."""
        videos = list(dict.fromkeys(video for video, *_ in moments))
        listed = [[videos.index(video), *facts] for video, *facts in moments]
        reply = _checked(self._ask(DecodeRequest("crops", {"moments": listed}, PICTURES), videos))
        found, at = [], 0
        for length in reply.value if isinstance(reply.value, list) else ():
            if not isinstance(length, int) or length < 0:
                break
            found.append(reply.data[at : at + length])
            at += length
        if len(found) != len(moments) or at != len(reply.data):
            raise NotDecodable("it gave other pictures than were wanted")
        return found

    def trail(
        self, video: Path, at: float, points: Sequence[tuple[float, float, str, bool]]
    ) -> bytes:
        """Return a moment with numbered clicks, PNG; raise the same as :meth:`cut`."""
        arguments = {"at": at, "points": [list(one) for one in points]}
        return _checked(self._ask(DecodeRequest("trail", arguments, PICTURES), [video])).data

    def finish(self, folder: Path, recording_id: str) -> tuple[FinishedSession, ...]:
        """Close the open parts of a recording in ``folder``; return its sessions, oldest first.

        A part that cannot be decoded within the limits is removed.

        Raises:
            OSError: If the disk is full or fails.
        """
        request = DecodeRequest("finish", {"recording_id": recording_id}, RECORDING, str(folder))
        while folder.is_dir():
            sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
            limits = replace(RECORDING, file=max(sizes, default=0) + SPARE)
            try:
                with lent(folder, _worker_uid()):
                    reply = _checked(self._ask(replace(request, limits=limits), ()))
                return tuple(_session(folder / recording_id, one) for one in reply.value)
            except (NotDecodable, RecordingFailed) as error:
                # The worker closes the parts in this order, so it died at the first open one.
                journal = next(iter(sorted(folder.glob("*/*.journal"))), None)
                log.warning("a recording cannot be finished (%s): %s", journal, error)
                if journal is None:
                    return ()
                journal.with_suffix(".mp4").unlink(missing_ok=True)
                journal.unlink()
        return ()

    def pixels(self, data: bytes) -> tuple[int, int, bytes]:
        """Return width, height and the RGB bytes of a picture.

        Raises:
            NotDecodable: If it is no picture, or takes too much time or memory.
        """
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.flush()
            reply = self._ask(
                DecodeRequest("pixels", {}, self._picture), [Path(f"/proc/self/fd/{file.fileno()}")]
            )
        match reply.value:
            case [int(width), int(height)] if len(reply.data) == 3 * width * height > 0:
                return width, height, reply.data
        raise NotDecodable(reply.detail or "it is no picture")

    def _ask(self, request: DecodeRequest, files: Iterable[Path]) -> DecodeReply:
        """Return the reply of a worker.

        Raises:
            NotDecodable: If the worker died.
            DecoderEnded: If there is no decoder any more.
        """
        ours, theirs = socket.socketpair()
        with ours:
            with theirs, ExitStack() as sent:
                opened = [sent.enter_context(path.open("rb")) for path in files]
                descriptors = [theirs.fileno(), *(one.fileno() for one in opened)]
                channel = self._channel
                if channel is None:
                    raise DecoderEnded
                try:
                    socket.send_fds(channel, [request_bytes(request)], descriptors)
                except OSError as error:
                    raise DecoderEnded from error
            ours.settimeout(request.limits.seconds + GRACE)
            data = _all(ours, request.limits.reply)
        reply = read_reply(data)
        if reply is None:
            raise NotDecodable("its decoding took too much time or memory")
        if reply.error == "resources":
            raise NotDecodable(reply.detail)
        if reply.error == "system":
            raise OSError(reply.number, reply.detail)
        return reply


def _all(stream: socket.socket, most: int) -> bytes:
    """Return what comes until the end, when the worker is dead."""
    data = bytearray()
    try:
        while piece := stream.recv(PIECE):
            data += piece
            if len(data) > most:
                raise NotDecodable("its decoding gave too many bytes")
    except TimeoutError as error:
        raise DecoderEnded from error
    return bytes(data)


def _checked(reply: DecodeReply) -> DecodeReply:
    if reply.error:
        raise RecordingFailed(reply.detail)
    return reply


def _worker_uid() -> int | None:
    return WORKER_UID if os.geteuid() == 0 else None


def _session(folder: Path, value: object) -> FinishedSession:
    """Return a session of a reply; its names stay in ``folder``."""
    match value:
        case {"metadata": dict(metadata), "videos": list(videos), "thumbnail": thumbnail}:
            paths = [folder / name for name in videos if _is_named(name, _VIDEO)]
            picture = folder / str(thumbnail) if _is_named(thumbnail, _THUMBNAIL) else None
            if len(paths) == len(videos):
                return FinishedSession(metadata, tuple(paths), picture)
    raise RecordingFailed("its description is not valid")


def _is_named(name: object, pattern: re.Pattern[str]) -> bool:
    return isinstance(name, str) and pattern.fullmatch(name) is not None
