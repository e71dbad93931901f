"""The recording of a turn: its sessions in order, and the fields that clients receive. Pure.

The row of a turn has one JSON object. A turn may have several sessions: one for each desktop that
the agent worked on, and for each start of the control plane. They may be stored in any order, as
the session of a desktop that was lost is stored when it has been recovered. The other fields follow
from the sessions:

- ``parts`` and ``file_ids`` are those of all sessions by their start, ``video_start`` is the time
  in the video of them all.
- ``complete`` if all sessions are; ``end_reason`` is that of the first incomplete one, else of the
  last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

Json = dict[str, Any]

NOT_STORED = "recording not stored"
"""Beginning of the warning of a turn whose recording could not be stored."""

FOLLOWS = "storing it is tried again, at the latest when its desktop has ended"
"""End of that warning where the recording stayed on the desktop."""

LATER = "the recording of a lost desktop is stored later"
"""Warning of a turn that ended before the recording of its lost desktop was stored."""

# Endings of keys that hold addresses and ids of files on the desktop. Stored files have their own.
_OF_A_DESKTOP = ("_url", "file_id", "file_ids")


@dataclass(frozen=True)
class RecordedSession:
    """The stored files of one recording, from its start to its stop."""

    started_at: float
    """Unix time, in seconds."""
    video_s: float
    end_reason: str | None
    complete: bool
    parts: tuple[Json, ...]
    """Each with ``file_id``, ``video_start`` in the session, ``bytes`` and ``end_reason``."""
    thumbnail_file_id: str | None = None


@dataclass(frozen=True)
class FetchedRecording:
    """Result of another attempt to copy a recording from its desktop."""

    session: RecordedSession | None = None
    """The stored files; ``None`` if there are none."""
    video_times: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Start and end of each tool call in the video, in seconds, by the call's id."""
    final: bool = False
    """True if another attempt would change nothing."""
    whole: bool = False
    """True if the copy has all bytes, so that the desktop needs its own no more."""


@dataclass(frozen=True)
class StayingRecording:
    """A recording that has ended and stays on its desktop, as it could not be stored."""

    metadata: Json
    """Of the recorder."""
    end_reason: str
    """The turn's reason for its end."""


def session(metadata: Json, file_ids: Sequence[str], thumbnail: str | None) -> RecordedSession:
    """Return the session that a recorder's metadata describe, with the ids of its stored files."""
    return RecordedSession(
        started_at=metadata["started_at"],
        video_s=metadata.get("video_s", 0.0),
        end_reason=metadata["end_reason"],
        complete=metadata["complete"],
        parts=tuple(
            {
                "file_id": file_id,
                "video_start": part["video_start"],
                "bytes": part["bytes"],
                "end_reason": part["end_reason"],
            }
            for part, file_id in zip(metadata["parts"], file_ids, strict=True)
        ),
        thumbnail_file_id=thumbnail,
    )


def with_session(stored: Mapping[str, Any], added: RecordedSession) -> Json:
    """Return a turn's recording with one more session; its warning that one is missing ends."""
    sessions = [*_sessions(stored), _json(added)]
    sessions.sort(key=lambda one: float(one["started_at"]))
    warning = stored.get("warning")
    if warning == LATER or str(warning).startswith(NOT_STORED):
        warning = None
    running = stored.get("status") == "recording"
    return _fields(sessions, warning) | ({"status": "recording"} if running else {})


def ended(stored: Mapping[str, Any], end_reason: str | None, warning: str | None) -> Json:
    """Return the recording of a turn that is over.

    ``end_reason`` counts if there is no session.
    """
    return {"end_reason": end_reason} | _fields(_sessions(stored), warning)


def _fields(sessions: Sequence[Json], warning: str | None) -> Json:
    if not sessions:
        empty: Json = {"status": "none", "file_ids": [], "parts": [], "thumbnail_file_id": None}
        return {**empty, "complete": None, "warning": warning, "sessions": []}
    parts: list[Json] = []
    begins = 0.0
    for one in sessions:
        parts += [
            part | {"video_start": round(begins + part["video_start"], 3)} for part in one["parts"]
        ]
        begins += one["video_s"]
    decisive = next((one for one in sessions if not one["complete"]), sessions[-1])
    thumbnails = [one["thumbnail_file_id"] for one in sessions if one["thumbnail_file_id"]]
    return {
        "status": "stored",
        "end_reason": decisive["end_reason"],
        "complete": decisive["complete"],
        "file_ids": [part["file_id"] for part in parts],
        "thumbnail_file_id": thumbnails[-1] if thumbnails else None,
        "parts": parts,
        "warning": warning,
        "sessions": list(sessions),
    }


def _sessions(stored: Mapping[str, Any]) -> list[Json]:
    if stored.get("sessions") or not stored.get("file_ids"):
        return list(stored.get("sessions") or [])
    # Turns that were recorded before there were sessions have the files of one, or of several.
    known = {part["file_id"]: part for part in stored.get("parts") or []}
    bare = {"video_start": 0.0, "bytes": 0, "end_reason": stored.get("end_reason")}
    legacy = RecordedSession(
        started_at=0.0,
        video_s=0.0,
        end_reason=stored.get("end_reason"),
        complete=bool(stored.get("complete")),
        parts=tuple(
            known.get(file_id) or {"file_id": file_id, **bare} for file_id in stored["file_ids"]
        ),
        thumbnail_file_id=stored.get("thumbnail_file_id"),
    )
    return [_json(legacy)]


def _json(one: RecordedSession) -> Json:
    return asdict(one) | {"parts": list(one.parts)}


def without_addresses(metadata: Any) -> Any:
    """Return a recording's metadata without the addresses, which are valid only on its desktop."""
    match metadata:
        case dict():
            remaining = {
                name: one for name, one in metadata.items() if not name.endswith(_OF_A_DESKTOP)
            }
            return {name: without_addresses(one) for name, one in remaining.items()}
        case list():
            return [without_addresses(one) for one in metadata]
        case _:
            return metadata


def video_times(steps: Sequence[Json], chat_id: str) -> dict[str, tuple[float, float]]:
    """Return start and end of each of the chat's tool calls in the video, by the call's id."""
    # The recorder also has steps of other chats that used the same desktop meanwhile.
    return {
        step["tool_call_id"]: (step["video_start"], step["video_end"])
        for step in steps
        if step.get("tool_call_id") and step.get("chat_id") in ("", None, chat_id)
    }
