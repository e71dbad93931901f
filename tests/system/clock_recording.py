"""Recordings with a clock on their screen, and runs of many steps around them."""

import io
from fractions import Fraction
from pathlib import Path
from random import Random

import av
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from deskhand.tools.conversation.views import ChatView, FileView, Json, MessageView, StepView
from tests.tools.control_plane.fakes import ControlPlaneFixture

BITS = 16
"""Squares at the top of each frame: its number in binary, readable in a browser's canvas."""

SENTENCES = (
    "I open the page of the shop and look for the form.",
    "The form asks for a name and a number, so I fill in both.",
    "A dialog hides the button; I close it first.",
    "Now I compare the totals of both tables.",
)
READ_CLOCK = """(video) => {
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0);
  const side = Math.floor(canvas.width / 16);
  let number = 0;
  for (let bit = 0; bit < 16; bit += 1) {
    const [light] = context.getImageData((bit + 0.5) * side, side / 2, 1, 1).data;
    number = number * 2 + (light > 128 ? 1 : 0);
  }
  return number;
}"""
"""Function of a page: the number of the frame that a video shows."""


def clock_frame(number: int, rate: int, size: tuple[int, int]) -> Image.Image:
    """Return a frame with its number as squares, and its time in digits."""
    width, height = size
    side = width // BITS
    hue = number * 3 % 360
    picture = Image.new("RGB", size, f"hsl({hue}, 35%, 82%)")
    draw = ImageDraw.Draw(picture)
    for bit in range(BITS):
        on = number >> (BITS - 1 - bit) & 1
        draw.rectangle((bit * side, 0, (bit + 1) * side - 1, side - 1), "white" if on else "black")
    box = (width * 0.12, height * 0.2, width * 0.88, height * 0.86)
    draw.rectangle(box, "white", "#888888", 2)
    font = ImageFont.load_default(size=height // 6)
    draw.text((width * 0.3, height * 0.4), f"{number / rate:08.3f}", "#223344", font=font)
    return picture


def clock_video(
    path: Path, seconds: float, rate: int = 15, size: tuple[int, int] = (640, 360)
) -> bytes:
    """Return a video whose frames show their time; a keyframe every second."""
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        options = {"preset": "ultrafast", "g": str(rate), "bf": "0"}
        stream = container.add_stream("libx264", rate=rate, options=options)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.time_base = Fraction(1, rate)
        for number in range(round(seconds * rate)):
            pixels = np.asarray(clock_frame(number, rate, size))
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return path.read_bytes()


def clock_steps(chat_id: str, count: int, seconds: float, pictures: list[str]) -> list[StepView]:
    """Return steps that begin at random milliseconds of the video, each tenth of them failed."""
    chance = Random(1)
    starts = sorted(chance.sample(range(round(seconds * 1000) - 200), count))
    kinds: list[tuple[str, Json]] = [
        ("left_click", {"coordinate": [400, 300]}),
        ("type", {"text": "Ada Lovelace"}),
        ("scroll", {"coordinate": [640, 400], "scroll_direction": "down"}),
        ("left_click_drag", {"start_coordinate": [200, 200], "coordinate": [900, 500]}),
        ("key", {"text": "ctrl+s"}),
    ]
    steps = []
    for index, start in enumerate(starts):
        action, arguments = kinds[index % len(kinds)]
        begun = 1000.0 + start / 1000
        following = starts[index + 1] if index + 1 < count else round(seconds * 1000)
        long = min(0.9 * (following - start) / 1000, 1.2)
        timings = {"model_ms": 400 * long, "act_ms": 100, "settle_ms": 300 * long}
        failed = index % 10 == 7
        steps.append(
            StepView(
                id=f"step-{index}",
                chat_id=chat_id,
                index=index,
                turn=1,
                tool_call_id=f"call-{index}",
                tool="computer",
                title=f"Step {index}",
                action=action,
                arguments=arguments,
                status="failed" if failed else "done",
                error="There is no such window." if failed else None,
                started_at=begun,
                ended_at=begun + long,
                timings=timings,
                details={},
                screenshot_file_id=pictures[index % len(pictures)] if pictures else None,
                video_start=start / 1000,
                video_end=start / 1000 + long,
            )
        )
    return steps


def clock_messages(chat_id: str, count: int, each: int) -> list[MessageView]:
    """Return a conversation in which every ``each`` calls follow a sentence."""
    messages = []
    for index in range(count):
        said: list[Json] = []
        if index % each == 0:
            said.append({"type": "text", "text": SENTENCES[index // each % len(SENTENCES)]})
        call = {"type": "tool_call", "id": f"call-{index}", "name": "computer", "arguments": {}}
        messages.append(MessageView(index, chat_id, 1, "assistant", (*said, call), 1.0))
    return messages


def add_clock_run(
    shown: ControlPlaneFixture, video: bytes, seconds: float, count: int, pictures: int = 0
) -> ChatView:
    """Add a run with a recording of ``seconds``; its first half idled ten times as long."""
    half = seconds / 2
    person: Json = {
        **{"tool": "human", "action": "human", "title": "Ada was in control", "text": "3 clicks"},
        **{"started_at": 1000 + half * 0.5, "ended_at": 1000 + half * 0.55},
        **{"video_start": half * 0.5, "video_end": half * 0.55},
    }
    idle = [[half, half], [half + 250, half + 2], [seconds + 248, seconds]]
    metadata: Json = {
        **{"id": "c", "started_at": 1000.0, "video_s": seconds, "parts": [{"video_start": 0.0}]},
        **{"steps": [person], "time_map": [[0.0, 0.0], *idle]},
    }
    file = shown.files.add(
        video, kind="recording", name="recording.mp4", media_type="video/mp4", metadata=metadata
    )
    chat = shown.chats.add(
        title="Compare the totals of both tables and report the difference",
        mode="computer_use",
        outcome="done",
        report="Both totals are equal.",
        model="scripted:demo",
        recording_file_ids=(file.id,),
        started_at=1000.0,
        ended_at=1000.0 + seconds + 248,
    )
    files = [_picture(shown, index).id for index in range(pictures)]
    shown.chats.steps_of[chat.id] = tuple(clock_steps(chat.id, count, seconds, files))
    shown.chats.messages_of[chat.id] = tuple(clock_messages(chat.id, count, 6))
    return chat


def _picture(shown: ControlPlaneFixture, index: int) -> FileView:
    out = io.BytesIO()
    clock_frame(index * 15, 15, (1280, 720)).save(out, "JPEG")
    return shown.files.add(out.getvalue(), media_type="image/jpeg", name=f"{index}.jpg")
