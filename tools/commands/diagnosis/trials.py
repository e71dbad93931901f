"""Checks of `deskhand doctor` that start what a desktop needs: an X server, a browser, an encoder.

Each takes the program, so that a test can pass one that fails.
"""

import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from deskhand.recording.errors import RecordingFailed
from deskhand.recording.timing.size_budget import QUALITY_LEVELS
from deskhand.recording.video.encoder import Encoder
from deskhand.tools.store.errors import StoreUnavailable

from .finding import Finding

START_SECONDS = 20.0
SIZE = (1280, 720)
FRAMES = 15
BITS_PER_SECOND = 8_000_000
PAGE = "data:text/html,<p>deskhand-works"
WORKS = "deskhand-works"
X_SERVER = ("-nolisten", "tcp", "-rfbport", "-1", "-geometry", "640x480", "-depth", "24")


def database_finding(version: Callable[[], str]) -> Finding:
    """Connect to the server of the database; ``version`` returns its version."""
    try:
        return Finding("database", "ok", f"PostgreSQL {version()} answers")
    except StoreUnavailable as error:
        return Finding("database", "fail", f"{error.place}: {error.reason}", error.advice)


def x_server_finding(program: str, options: Sequence[str] = X_SERVER) -> Finding:
    """Start an X server on a free display number, and end it."""
    reader, writer = os.pipe()
    began = time.monotonic()
    try:
        with _ended(
            subprocess.Popen(
                [program, "-displayfd", str(writer), *options],
                pass_fds=(writer,),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        ):
            os.close(writer)
            writer = -1
            ready, _, _ = select.select([reader], [], [], START_SECONDS)
            # The server writes the number of its display; one that ends closes the pipe.
            display = os.read(reader, 16).decode().strip() if ready else ""
    except OSError as error:
        return _broken("X server", str(error.strerror))
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
    if not display:
        return _broken("X server", f"{program} did not start a display")
    return Finding("X server", "ok", f"starts in {1000 * (time.monotonic() - began):.0f} ms")


def browser_finding(program: str) -> Finding:
    """Let a browser render a page without a display."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="deskhand-doctor-") as profile:
        try:
            ended = subprocess.run(
                [
                    *(program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
                    *(f"--user-data-dir={profile}", "--dump-dom", PAGE),
                ],
                capture_output=True,
                text=True,
                check=False,
                timeout=START_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired):
            return _broken("browser start", f"{program} does not start", "browser")
    if WORKS not in ended.stdout:
        return _broken("browser start", f"{program} does not show a page", "browser")
    return Finding("browser start", "ok", f"shows a page in {time.monotonic() - began:.1f} s")


def encoder_finding(encode: Callable[[], None]) -> Finding:
    """Encode one second of video."""
    began = time.process_time()
    try:
        encode()
    except (RecordingFailed, OSError, ValueError) as error:
        return Finding(
            *("encoder", "fail", f"cannot encode H.264: {error}"),
            remedy="install the package av anew: pip install --force-reinstall av",
        )
    took = time.process_time() - began
    detail = f"1 s of {SIZE[0]}x{SIZE[1]} takes {1000 * took:.0f} ms of a processor"
    if took > 1.0:
        return Finding("encoder", "warn", detail, "recordings will lag; use a faster machine")
    return Finding("encoder", "ok", detail)


def encode_second() -> None:
    """Encode a second of moving pictures as recordings are encoded.

    Raises:
        RecordingFailed: If FFmpeg has no suitable encoder.
    """
    width, height = SIZE
    with Encoder(SIZE, QUALITY_LEVELS[0], BITS_PER_SECOND) as encoder:
        for number in range(FRAMES):
            frame = np.zeros((height, width, 4), np.uint8)
            frame[:, 40 * number : 40 * number + 200] = 255
            encoder.encode(frame, number / FRAMES, key=number == 0)


def _broken(name: str, detail: str, package: str = "tigervnc-standalone-server") -> Finding:
    remedy = "apt-get install chromium" if package == "browser" else f"apt-get install {package}"
    return Finding(name, "fail" if package != "browser" else "warn", detail, remedy)


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
