"""Answers about processes and git."""

from deskhand.desktop.processes.head_tail import Truncation
from deskhand.vncbridge.openapi.schemas import (
    COUNT,
    FLAG,
    INTEGER,
    NUMBER,
    TEXT,
    Json,
    array,
    described,
    nullable,
    record,
    record_of,
)

MESSAGE = record("Message", {"message": TEXT})

_COPY: Json = {
    "output_path": TEXT,
    "exit_path": TEXT,
    "output_lost": described(TEXT, "Reason for which the copy of the output is incomplete."),
}
_EXIT: Json = {"exit_code": INTEGER, "signal": TEXT}
_TIMES: Json = {"age_ms": COUNT, "timed_out": FLAG}
STARTED_PROCESS = record(
    "StartedProcess",
    {
        "id": TEXT,
        "started": FLAG,
        "attached": described(FLAG, "True if an earlier call with the same id started it."),
    },
    {"age_ms": COUNT, "workdir": TEXT, "name": TEXT, **_COPY},
)
_TRUNCATED = record_of("Truncation", Truncation)
OUTPUT = record(
    "ProcessOutput",
    {
        "id": TEXT,
        "command": TEXT,
        "running": FLAG,
        "canceled": FLAG,
        **_TIMES,
        "output": TEXT,
        "truncated": nullable(_TRUNCATED),
    },
    {
        **_EXIT,
        **_COPY,
        "duration_ms": COUNT,
        "total_bytes": COUNT,
        "cursor": COUNT,
        "next_cursor": COUNT,
        "gap_bytes": COUNT,
        "has_more": FLAG,
    },
)
_LISTED = record(
    "Process",
    {
        "id": TEXT,
        "command": TEXT,
        "workdir": TEXT,
        "background": FLAG,
        "running": FLAG,
        "started_at_unix": COUNT,
    },
    {"name": TEXT, "exited_at_unix": COUNT, **_EXIT, **_COPY},
)
PROCESSES = record("Processes", {"processes": array(_LISTED), "total": COUNT, "has_more": FLAG})
CANCELED_CALL = record(
    "CanceledCall",
    {"received": FLAG, "started": FLAG, "canceled": FLAG},
    {
        "body": described({}, "The answer that the call had."),
        "status": COUNT,
        "status_code": COUNT,
        "content_type": TEXT,
        "id": TEXT,
        "command": TEXT,
        "running": FLAG,
        **_EXIT,
        **_COPY,
        **_TIMES,
        "duration_ms": COUNT,
        "output": TEXT,
        "truncated": nullable(_TRUNCATED),
        "total_bytes": COUNT,
    },
)

GIT_CREDENTIAL = record("GitCredential", {"url": TEXT, "username": TEXT})
GIT_CREDENTIALS = record("GitCredentials", {"credentials": array(GIT_CREDENTIAL)})
STALE_CHATS = record("StaleChats", {"chat_ids": array(TEXT)})
GIT_REFS = record(
    "GitRefs",
    {
        "refs": array(
            record(
                "GitRef",
                {
                    "chat_id": TEXT,
                    "branch": TEXT,
                    "remote_origin": TEXT,
                    "stale_at": nullable(NUMBER),
                },
            )
        )
    },
)
