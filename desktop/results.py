"""Answers of a desktop service as values."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from .errors import EmptyPicture
from .geometry import Point, Region, Size

Json = Mapping[str, Any]

_SUFFIXES = {".jpeg": "jpeg", ".jpg": "jpeg", ".png": "png", ".webp": "webp"}


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture of the screen; notebooks show it.

    >>> Picture(b"...", "png", Size(1280, 720), "boot-7")
    Picture(png, 1280x720, 3 bytes)
    """

    data: bytes
    """The image file; empty when nothing has changed since the frame named by ``since``."""
    format: str
    """``png``, ``jpeg`` or ``webp``."""
    size: Size
    frame_id: str
    """Identifies the frame; passed as ``since``, it suppresses an unchanged picture."""

    @property
    def unchanged(self) -> bool:
        """True if the screen still shows the frame named by ``since``."""
        return not self.data

    def __repr__(self) -> str:
        return (
            f"Picture({self.format}, {self.size.width}x{self.size.height}, {len(self.data)} bytes)"
        )

    def _repr_png_(self) -> bytes | None:
        """Return the PNG file that a notebook shows."""
        return None if self.unchanged else self._encoded("png")

    def to_pil(self) -> Any:
        """Return it as a ``PIL.Image.Image``; raises `EmptyPicture` if it is unchanged."""
        if self.unchanged:
            raise EmptyPicture(f"nothing has changed since frame {self.frame_id}")
        # Pillow takes 60 ms to load, which most programs need not pay.
        return import_module("PIL.Image").open(BytesIO(self.data))

    def save(self, path: Path | str) -> Path:
        """Write a file, in the format of its suffix, and return its path.

        Raises:
            EmptyPicture: If it is unchanged.
        """
        to = Path(path)
        to.write_bytes(self._encoded(_SUFFIXES.get(to.suffix.lower(), self.format)))
        return to

    def _encoded(self, kind: str) -> bytes:
        if kind == self.format and self.data:
            return self.data
        to = BytesIO()
        self.to_pil().convert("RGB").save(to, kind)
        return to.getvalue()


@dataclass(frozen=True)
class Done:
    """Result of an action. Points and regions are in the space of the request."""

    output: str
    frame_id: str
    point: Point | None = None
    native_point: Point | None = None
    clamped: bool = False
    """True if a point up to two pixels outside was moved to the edge."""
    settled: str | None = None
    """``quiet``, ``ceiling`` or ``no_change``; None without ``observe``."""
    changed_fraction: float | None = None
    changed_regions: tuple[Region, ...] = ()
    picture: Picture | None = None


@dataclass(frozen=True)
class Batch:
    """Result of several actions, up to the first that failed."""

    done: tuple[Done, ...]
    """One for each action that succeeded."""
    error: str
    """Error of the action that failed; empty if all succeeded."""
    skipped: int
    """Number of actions after the failed one, which were not begun."""
    seen: Done
    """Observation after the last action, if ``observe`` was set."""


@dataclass(frozen=True)
class Ended:
    """Exit code and output of a command."""

    exit_code: int
    """The command's own, or 128 + n after signal n."""
    output: str
    """Output on both streams."""
    truncated: bool
    """True if the command wrote more than was asked for, or than the desktop keeps."""


@dataclass(frozen=True)
class Recording:
    """A recording of this desktop."""

    id: str
    label: str
    status: str
    """``recording`` or ``stored``."""
    duration_s: float
    """Real time that the recording covers."""
    video_s: float
    """Length of the video, in which idle periods are sped up."""
    size: int
    """Bytes."""
    end_reason: str | None
    complete: bool = False
    """True if no frame or step was lost."""


@dataclass(frozen=True)
class Status:
    """Identity and state of a desktop."""

    instance_id: str
    display: str
    size: Size
    model_size: Size
    uptime_s: float
    watchers: int
    recording_ids: tuple[str, ...]
    version: str
    everything: Json
    """The whole answer, including fields unknown to this version."""


@dataclass(frozen=True)
class Widget:
    """A widget of an application as AT-SPI reports it."""

    role: str
    name: str
    ref: str
    """Identifies the widget in ``click_widget``; empty for one without a rectangle."""
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
    """Position and size with the frame, in the space of the request."""
    native_region: Region
    focused: bool
    maximized: bool
    minimized: bool
    dialog: bool


@dataclass(frozen=True)
class Application:
    """An application that can be launched."""

    name: str
    """Name for ``launch``."""
    title: str
    """Display name."""
    types: tuple[str, ...]
    """Media types that the application opens."""


@dataclass(frozen=True)
class Started:
    """An application that was started."""

    process_id: str
    """Id in the process list."""
    command: str


@dataclass(frozen=True)
class Tenure:
    """Holder of the lease."""

    revision: int
    """Changes with the holder."""
    kind: str
    """``person``, ``chat`` or ``nobody``."""
    holder: str
    """The person's name or the chat's id; empty without a holder."""
    private: bool
    """True while privacy mode hides the screen from all others."""
    granted: bool | None
    """True if the request for control succeeded; None in other answers."""
    everything: Json
    """The whole answer, including fields unknown to this version."""


@dataclass(frozen=True)
class Event:
    """An event of a desktop."""

    id: str
    kind: str
    """Such as ``window_opened``."""
    at: float
    """Seconds since 1970."""
    data: Json


def picture_of_reply(headers: Mapping[str, str], content: bytes, kind: str) -> Picture:
    """Read the answer to a screenshot; ``kind`` is the requested format."""
    width, _, height = headers.get("deskhand-picture-size", "0x0").partition("x")
    frame_id = headers.get("deskhand-frame-id", "")
    return Picture(content, kind, Size(int(width), int(height)), frame_id)


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
    members = body["results"]
    failed = next((one for one in members if "error" in one), None)
    good = [one for one in members if "error" not in one and not one.get("skipped")]
    return Batch(
        done=tuple(map(done, good)),
        error="" if failed is None else str(failed["output"]),
        skipped=int(body["skipped"]),
        seen=done(body),
    )


def ended(body: Json) -> Ended:
    """Read the output of a process that has exited."""
    code = int(body.get("exit_code", -1))
    truncation = body.get("truncated") or {}
    truncated = bool(truncation.get("omitted_bytes") or truncation.get("cut_lines"))
    return Ended(code, str(body.get("output", "")), truncated)


def recording(body: Json) -> Recording:
    """Read the description of a recording."""
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
    """Read one widget with its descendants."""
    rectangle = body.get("rectangle")
    return Widget(
        role=str(body["role"]),
        name=str(body.get("name", "")),
        ref=str(body.get("ref", "")),
        rectangle=None if rectangle is None else Region(*rectangle),
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
        region=_region(body["geometry"]),
        native_region=_region(body["native_geometry"]),
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
    """Read the answer to a launch."""
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


def _region(body: Json) -> Region:
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
