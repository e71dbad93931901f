"""Take-over on a real desktop: who may act, who may see, and what is recorded of it."""

import asyncio
import io
import os
import struct
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageSequence
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.recording.video.animation import animation
from deskhand.recording.video.clips import Stretch
from deskhand.recording.video.contact_sheet import Cell, contact_sheet
from deskhand.recording.video.crops import Crop, crops
from deskhand.recording.video.sprites import Moment, sprite
from deskhand.recording.video.trail import trail
from tests.system.services import Service, child, until, x_display
from tests.system.watching import end_of, handshake, played, stream, ticket
from tests.vncbridge.rfb.client_messages import encodings, key, pointer

pytestmark = pytest.mark.x11

LEASE = "/api/v0/desktop/lease"
TAKE = {"action": "take", "name": "Ann"}
RELEASE = {"action": "release", "name": "Ann"}
MAGENTA = "#ff00ff"


def pointer_of(desktop: Service) -> list[int]:
    found: list[int] = desktop.act(action="cursor_position")["native_point"]
    return found


def test_a_hostile_client_with_a_ticket_to_view_changes_nothing(desktop: Service) -> None:
    desktop.act(action="mouse_move", coordinate=[100, 100])
    before = pointer_of(desktop)

    async def attack() -> None:
        async with connect(stream(desktop, ticket=ticket(desktop, "view"))) as socket:
            await handshake(socket)
            await socket.send(encodings(0) + pointer(1, 500, 500) + pointer(0, 600, 600))
            await socket.send(key(0xFFE1) + struct.pack(">BxHHBx", 251, 640, 480, 0))
            await socket.send(b"\x63")
            await end_of(socket)
            assert socket.close_code == 1002
            assert socket.close_reason == "Message type 99 is unknown."

    played(attack())
    assert pointer_of(desktop) == before
    assert desktop.get("/api/v0/desktop")["size"] == {"width": 1920, "height": 1080}
    assert desktop.get(LEASE)["holder"] == {"kind": "nobody"}


def test_a_program_takes_control_by_clicking_and_agents_are_notified(desktop: Service) -> None:
    async def drive() -> None:
        async with connect(stream(desktop, ticket=ticket(desktop, "control"))) as socket:
            await handshake(socket)
            await socket.send(encodings(0) + pointer(0, 300, 300) + pointer(1, 300, 300))
            await asyncio.to_thread(
                until,
                lambda: desktop.get(LEASE)["holder"]["kind"] == "person",
                "the program's control",
            )
            answer = desktop.http.post(
                "/api/v0/desktop/action", json={"action": "left_click", "coordinate": [5, 5]}
            )
            assert (answer.status_code, answer.json()["code"]) == (409, "human_in_control")

    played(drive())
    desktop.http.delete(LEASE)
    assert desktop.get(LEASE)["last"]["clicks"] == 1
    assert pointer_of(desktop) == [300, 300]


def test_viewers_are_disconnected_in_privacy_mode(desktop: Service) -> None:
    async def watch() -> None:
        async with connect(stream(desktop, ticket=ticket(desktop, "view"))) as socket:
            await handshake(socket)
            await asyncio.to_thread(desktop.post, LEASE, TAKE)
            await end_of(socket)
            assert socket.close_code == 4001
        with pytest.raises(InvalidStatus) as refused:
            await connect(stream(desktop, ticket=ticket(desktop, "control")))
        assert refused.value.response.status_code == 409

    played(watch())
    answer = desktop.http.get("/api/v0/desktop/screenshot")
    assert (answer.status_code, answer.json()["code"]) == (409, "human_in_control")
    desktop.post(LEASE, RELEASE)
    assert desktop.http.get("/api/v0/desktop/screenshot").status_code == 200


def test_nothing_private_is_in_the_recording(desktop: Service, tmp_path: Path) -> None:
    recording = "11111111-2222-4333-8444-555555555555"
    desktop.post("/api/v0/desktop/recording/start", {"recording_id": recording})
    desktop.act(action="mouse_move", coordinate=[10, 10])
    # Privacy mode hides the screen from screenshots, and commands are refused.
    display, cookie = x_display(desktop)
    desktop.post(LEASE, TAKE)
    environment = {**os.environ, "DISPLAY": display, "XAUTHORITY": str(cookie)}
    with Framebuffer(display, cookie) as screen:
        with child("xterm", "-bg", MAGENTA, "-geometry", "120x40", environment=environment):
            until(lambda: shows_magenta(screen), "the magenta block")
        until(lambda: not shows_magenta(screen), "the end of the magenta block")
    desktop.post(LEASE, RELEASE)
    desktop.act(action="mouse_move", coordinate=[50, 50])
    desktop.post("/api/v0/desktop/recording/stop", {"recording_id": recording})
    facts = desktop.get(f"/api/v0/desktop/recordings/{recording}")
    human = [step for step in facts["steps"] if step["tool"] == "human"]
    assert [step["title"] for step in human] == ["Ann was in control"]
    video = tmp_path / "video.mp4"
    video.write_bytes(desktop.http.get(f"/api/v0/desktop/recordings/{recording}/video").content)
    assert magenta_in(video) == 0
    # Nor is it in a picture that is made of it: the sprite, the poster and the steps' pictures, the
    # sheet, the crops of a report, the trail and the animations.
    times = [at * facts["video_s"] / 40 for at in range(40)]
    moments = [Moment(video, at) for at in times]
    pictures = [
        sprite(moments, columns=10, tile=(160, 90), exact=True),
        contact_sheet([Cell(video, at, "") for at in times[::3]], 8),
        *crops([Crop(video, at, (400.0, 300.0)) for at in times[::6]]),
        trail(video, times[-2], []),
    ]
    whole = [Stretch(video, 0.0, facts["video_s"])]
    with Image.open(io.BytesIO(animation(whole, "gif", 160, 8_000_000))) as moving:
        for shown in ImageSequence.Iterator(moving):
            assert magenta_pixels(np.asarray(shown.convert("RGB"))) == 0
    addresses = [facts["thumbnail_url"], *(step["picture_url"] for step in facts["steps"])]
    pictures += [desktop.http.get(f"/{address.lstrip('/')}").content for address in addresses]
    assert len(pictures) > 3
    for picture in pictures:
        with Image.open(io.BytesIO(picture)) as still:
            assert magenta_pixels(np.asarray(still.convert("RGB"))) == 0


def shows_magenta(screen: Framebuffer) -> bool:
    blue, green, red = (screen.frame().pixels[..., channel] for channel in range(3))
    return int(((red == 255) & (green == 0) & (blue == 255)).sum()) > 100_000


def magenta_in(video: Path) -> int:
    found = 0
    with av.open(str(video)) as container:
        for frame in container.decode(video=0):
            found += magenta_pixels(frame.to_ndarray(format="rgb24").astype(np.uint8))
    return found


def magenta_pixels(pixels: NDArray[np.uint8]) -> int:
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    return int(((red > 180) & (green < 80) & (blue > 180)).sum())
