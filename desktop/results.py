"""What a desktop answers its client, as values."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .geometry import Point, Region, Size

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Picture:
    """A picture of the screen."""

    data: bytes
    """The file; empty when nothing has changed since the frame that was named."""
    format: str
    """``png``, ``jpeg`` or ``webp``."""
    size: Size
    frame_id: str
    """Name of what the screen showed; give it as ``since`` to get only what is new."""

    @property
    def unchanged(self) -> bool:
        """Whether the screen still shows the frame that was named."""
        return not self.data


@dataclass(frozen=True)
class Done:
    """What an action gave. Points and regions are in the space of the request."""

    output: str
    frame_id: str
    point: Point | None = None
    native_point: Point | None = None
    clamped: bool = False
    """Whether a point lay outside of the screen, and its border was taken."""
    settled: str | None = None
    """``quiet``, ``ceiling`` or ``no_change``; None when nobody asked to observe."""
    changed_fraction: float | None = None
    changed_regions: tuple[Region, ...] = ()
    picture: Picture | None = None


@dataclass(frozen=True)
class Batch:
    """What several actions gave, up to the first that failed."""

    done: tuple[Done, ...]
    """One for each action that was done."""
    error: str
    """Why the next one failed; empty if all were done."""
    skipped: int
    """How many were not begun after it."""
    seen: Done
    """What was observed at the end, if anybody asked for it."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    exit_code: int
    """Its own, or 128 + n after signal n."""
    output: str
    """What it wrote to both streams; of a great deal, the beginning and the end."""
    truncated: bool


@dataclass(frozen=True)
class Recording:
    """A recording of this desktop."""

    id: str
    label: str
    status: str
    """``recording`` or ``stored``."""
    duration_s: float
    """Of what happened."""
    video_s: float
    """Of the film, with idle stretches sped up."""
    size: int
    """Bytes."""
    end_reason: str | None
    complete: bool = False
    """Whether nothing that should be in it is missing."""


@dataclass(frozen=True)
class Status:
    """What a desktop is and how it is."""

    instance_id: str
    display: str
    size: Size
    model_size: Size
    uptime_s: float
    watchers: int
    recording_ids: tuple[str, ...]
    version: str
    everything: Json
    """The whole answer, with what this version has no name for."""


@dataclass(frozen=True)
class Widget:
    """Something that an application shows."""

    role: str
    name: str
    ref: str
    """By which it is clicked; empty where it has no place."""
    rectangle: Region | None
    """In native pixels."""
    states: tuple[str, ...] = ()
    children: tuple["Widget", ...] = ()


@dataclass(frozen=True)
class Window:
    """A window of an application."""

    id: int
    title: str
    class_name: str
    pid: int | None
    region: Region
    """Its place with its frame, in the space of the request."""
    native_region: Region
    focused: bool
    maximized: bool
    minimized: bool
    dialog: bool


@dataclass(frozen=True)
class Application:
    """Something that can be launched."""

    name: str
    """By which it is launched."""
    title: str
    """For people to read."""
    types: tuple[str, ...]
    """The media types that it opens."""


@dataclass(frozen=True)
class Started:
    """An application that was started."""

    process_id: str
    """Of the process list."""
    command: str


@dataclass(frozen=True)
class Tenure:
    """Who is in control."""

    revision: int
    """Another one whenever that changes."""
    kind: str
    """``person``, ``chat`` or ``nobody``."""
    holder: str
    """The person's name, or the chat's id; empty for nobody."""
    private: bool
    """Whether nobody else may look."""
    granted: bool | None
    """Whether whoever asked has it now; None in other answers."""
    everything: Json
    """The whole answer, with what this version has no name for."""


@dataclass(frozen=True)
class Event:
    """Something that happened on a desktop."""

    id: str
    kind: str
    """``window_opened`` for one."""
    at: float
    """Seconds since 1970."""
    data: Json


def picture_of_reply(headers: Mapping[str, str], content: bytes, kind: str) -> Picture:
    """Read the answer to a screenshot; ``kind`` is the format that was asked for."""
    width, _, height = headers.get("deskhand-picture-size", "0x0").partition("x")
    shown = headers.get("deskhand-frame-id", "")
    return Picture(content, kind, Size(int(width), int(height)), shown)


def done(body: Json) -> Done:
    """Read the answer to an action."""
    return Done(
        output=str(body.get("output", "")),
        frame_id=str(body.get("frame_id", "")),
        point=_point(body.get("point")),
        native_point=_point(body.get("native_point")),
        clamped=bool(body.get("clamped", False)),
        settled=body.get("settled"),
        changed_fraction=body.get("changed_fraction"),
        changed_regions=tuple(Region(*region) for region in body.get("changed_regions", ())),
        picture=_picture(body),
    )


def batch(body: Json) -> Batch:
    """Read the answer to a batch."""
    told = body["results"]
    failed = next((one for one in told if "error" in one), None)
    good = [one for one in told if "error" not in one and not one.get("skipped")]
    return Batch(
        done=tuple(map(done, good)),
        error="" if failed is None else str(failed["output"]),
        skipped=int(body["skipped"]),
        seen=done(body),
    )


def ended(body: Json) -> Ended:
    """Read the output of a process that has exited."""
    code = int(body.get("exit_code", -1))
    told = body.get("truncated") or {}
    left_out = bool(told.get("omitted_bytes") or told.get("cut_lines"))
    return Ended(code, str(body.get("output", "")), left_out)


def recording(body: Json) -> Recording:
    """Read what is known of a recording."""
    return Recording(
        id=str(body["id"]),
        label=str(body.get("label") or ""),
        status=str(body["status"]),
        duration_s=float(body["duration_s"]),
        video_s=float(body["video_s"]),
        size=int(body["bytes"]),
        end_reason=body.get("end_reason"),
        complete=bool(body.get("complete", False)),
    )


def status(body: Json) -> Status:
    """Read the status of a desktop."""
    return Status(
        instance_id=str(body["instance_id"]),
        display=str(body["display"]),
        size=Size(**body["size"]),
        model_size=Size(**body["model_size"]),
        uptime_s=float(body["uptime_s"]),
        watchers=int(body["watchers"]),
        recording_ids=tuple(body["recording_ids"]),
        version=str(body["version"]),
        everything=body,
    )


def widget(body: Json) -> Widget:
    """Read one widget with all that are in it."""
    place = body.get("rectangle")
    return Widget(
        role=str(body["role"]),
        name=str(body.get("name", "")),
        ref=str(body.get("ref", "")),
        rectangle=None if place is None else Region(*place),
        states=tuple(body.get("states", ())),
        children=tuple(map(widget, body.get("children", ()))),
    )


def window(body: Json) -> Window:
    """Read one window."""
    return Window(
        id=int(body["id"]),
        title=str(body.get("title") or ""),
        class_name=str(body.get("class") or ""),
        pid=body.get("pid"),
        region=_place(body["geometry"]),
        native_region=_place(body["native_geometry"]),
        focused=bool(body.get("focused")),
        maximized=bool(body.get("maximized")),
        minimized=bool(body.get("minimized")),
        dialog=bool(body.get("dialog")),
    )


def application(body: Json) -> Application:
    """Read one application."""
    return Application(
        str(body["name"]), str(body.get("title") or ""), tuple(body.get("types", ()))
    )


def started(body: Json) -> Started:
    """Read what was started."""
    return Started(str(body["process_id"]), str(body.get("command", "")))


def tenure(body: Json) -> Tenure:
    """Read the lease."""
    holder = body.get("holder") or {}
    return Tenure(
        revision=int(body["revision"]),
        kind=str(holder.get("kind", "nobody")),
        holder=str(holder.get("name") or holder.get("chat_id") or ""),
        private=bool(body.get("private")),
        granted=body.get("granted"),
        everything=body,
    )


def event(body: Json) -> Event:
    """Read one event."""
    return Event(str(body["id"]), str(body["kind"]), float(body["at"]), body.get("data") or {})


def _place(body: Json) -> Region:
    left, top = int(body["x"]), int(body["y"])
    return Region(left, top, left + int(body["width"]), top + int(body["height"]))


def _point(value: Any) -> Point | None:
    return None if value is None else Point(*value)


def _picture(body: Json) -> Picture | None:
    if "screenshot_media_type" not in body:
        return None
    return Picture(
        base64.b64decode(body.get("screenshot_data", "")),
        str(body["screenshot_media_type"]).partition("/")[2],
        Size(int(body["screenshot_width"]), int(body["screenshot_height"])),
        str(body["frame_id"]),
    )
