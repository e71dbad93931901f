"""Answers about recordings and runs."""

from deskhand.desktop.openapi.recordings import RECORDING_PART
from deskhand.tools.run_activities.activity import Activity
from deskhand.vncbridge.openapi.schemas import (
    ANY_OBJECT,
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    Json,
    array,
    described,
    nullable,
    record,
    record_of,
)

from .chats import CHAT, WHOLE_CHAT

_FACTS: Json = {
    "end_reason": nullable(TEXT),
    "complete": nullable(FLAG),
    "bytes": COUNT,
    "video_s": described(nullable(NUMBER), "Length of the video."),
    "duration_s": described(nullable(NUMBER), "Real time that it covers."),
    "pinned": FLAG,
}
_SUMMARY = record(
    "RecordingSummary",
    {
        "chat_id": TEXT,
        "parent_id": nullable(TEXT),
        "title": TEXT,
        "outcome": nullable(TEXT),
        "recording_status": TEXT,
        "created_at": NUMBER,
        "step_count": COUNT,
        "recording_file_id": nullable(TEXT),
        "recording_file_ids": array(TEXT),
        "thumbnail_file_id": nullable(TEXT),
        "thumbnail_url": nullable(TEXT),
        "run_url": TEXT,
        **_FACTS,
    },
)
RECORDINGS = record("Recordings", {"recordings": array(_SUMMARY), "next_cursor": nullable(TEXT)})
RECORDING = record(
    "Recording",
    {
        "id": TEXT,
        "status": TEXT,
        "started_at": nullable(NUMBER),
        **_FACTS,
        "parts": array(RECORDING_PART),
        "steps": array(ANY_OBJECT),
        "time_map": described(array(array(NUMBER)), "Points [real seconds, seconds of the video]."),
        "video_url": TEXT,
        "thumbnail_url": TEXT,
        "steps_url": TEXT,
    },
)
_VIDEO = record(
    "RunVideo",
    {
        "file_id": TEXT,
        "url": TEXT,
        "name": TEXT,
        "media_type": TEXT,
        "bytes": COUNT,
        "created_at": NUMBER,
        "pinned": FLAG,
        "metadata": ANY_OBJECT,
        "part": COUNT,
        "video_s": nullable(NUMBER),
        "chapters_url": TEXT,
    },
)
_TIMELINE = record(
    "RunTimeline",
    {
        "seconds": NUMBER,
        "time_map": described(array(array(NUMBER)), "Points [unix time, seconds of the video]."),
        "sessions": described(array(ANY_OBJECT), "People in control."),
        "filmstrip": described(ANY_OBJECT, "Number and size of the tiles, and their address."),
    },
)
RUN = record(
    "Run",
    {
        "chat": WHOLE_CHAT,
        "changed_turns": array(COUNT),
        "recordings": array(_VIDEO),
        "video": nullable(_TIMELINE),
        "thumbnail_url": nullable(TEXT),
        "children": array(CHAT),
        "people": array(
            record_of(
                "Activity",
                Activity,
                kind=described(TEXT, "`message`, `answer`, `stop` or `control`."),
            )
        ),
        "owner": described(TEXT, "Name of the person who started it; empty for others."),
        "rights": described(TEXT, "`write`, `stop` or `read`."),
        "reads_conversation": FLAG,
    },
)
PINNED_RUN = record("PinnedRun", {"chat_id": TEXT, "pinned": FLAG, "file_ids": array(TEXT)})
_ROW = record(
    "WaterfallRow",
    {
        "index": described(nullable(COUNT), "Number of the step, from 0; none for people."),
        "id": TEXT,
        "title": TEXT,
        "what": described(TEXT, "Action or tool of the step."),
        "failed": FLAG,
        "spans": array(record("TimeSpan", {"kind": TEXT, "begin": NUMBER, "end": NUMBER})),
    },
)
WATERFALL = record(
    "Waterfall",
    {
        "seconds": NUMBER,
        "totals": described(ANY_OBJECT, "Seconds by kind."),
        "rows": array(_ROW),
        "advice": array(record("Advice", {"rule": TEXT, "seconds": NUMBER, "text": TEXT})),
    },
)
