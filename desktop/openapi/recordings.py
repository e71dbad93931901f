"""Answers about recordings."""

from dataclasses import fields
from typing import get_type_hints

from deskhand.recording.step import Step
from deskhand.vncbridge.openapi.schemas import (
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    Json,
    array,
    described,
    enum,
    nullable,
    of_type,
    record,
)

_HINTS = get_type_hints(Step)
_STEP = record(
    "RecordedStep",
    {
        **{
            field.name: of_type(_HINTS[field.name])
            for field in fields(Step)
            if field.name not in ("started", "ended")
        },
        "index": COUNT,
        "started_at": NUMBER,
        "ended_at": NUMBER,
        "video_start": NUMBER,
        "video_end": NUMBER,
        "picture_url": TEXT,
    },
)
RECORDING_PART = record(
    "RecordingPart",
    {
        "index": COUNT,
        "file_id": TEXT,
        "bytes": COUNT,
        "video_start": NUMBER,
        "video_s": NUMBER,
        "end_reason": nullable(TEXT),
        "video_url": TEXT,
    },
)
_FACTS: Json = {
    "id": TEXT,
    "label": TEXT,
    "take": COUNT,
    "status": enum("RecordingStatus", "recording", "stored"),
    "recording_status": TEXT,
    "recording_file_id": TEXT,
    "recording_file_ids": array(TEXT),
    "earlier_file_ids": array(TEXT),
    "end_reason": nullable(TEXT),
    "complete": described(FLAG, "True if no frame or step was lost."),
    "started_at": NUMBER,
    "duration_s": described(NUMBER, "Real time that the recording covers."),
    "video_s": described(NUMBER, "Length of the video, in which idle periods are sped up."),
    "bytes": COUNT,
    "parts": array(RECORDING_PART),
    "video_url": TEXT,
    "thumbnail_url": TEXT,
    "steps_url": TEXT,
}
_IN_FULL: Json = {
    **_FACTS,
    "steps": array(_STEP),
    "time_map": described(array(array(NUMBER)), "Points [real seconds, seconds of the video]."),
}
RECORDING = record("Recording", _IN_FULL)
RECORDINGS = record("Recordings", {"recordings": array(record("RecordingSummary", _FACTS))})
STOPPED_RECORDING = record("StoppedRecording", {"message": TEXT, **_IN_FULL})
