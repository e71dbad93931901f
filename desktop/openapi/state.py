"""Answers about the state of a desktop: status, lease, display, secrets."""

from deskhand.vncbridge.openapi.schemas import (
    ANY_OBJECT,
    COUNT,
    FLAG,
    INTEGER,
    NUMBER,
    TEXT,
    Json,
    array,
    described,
    enum,
    mapping,
    nullable,
    record,
)

from .screen import SIZE

_HOLDER = record(
    "Holder",
    {"kind": enum("HolderKind", "nobody", "chat", "person")},
    {"chat_id": TEXT, "name": TEXT, "since_s": NUMBER},
)
_LAST = record(
    "ControlSession",
    {
        "name": TEXT,
        "seconds": NUMBER,
        "ended_s_ago": NUMBER,
        "keys": COUNT,
        "clicks": COUNT,
        "private": FLAG,
        "reason": TEXT,
        "windows": array(TEXT),
        "stopped": record("EndedStop", {"count": COUNT, "seconds": NUMBER}),
    },
)
_LEASE: Json = {
    "revision": described(COUNT, "Changes with the holder."),
    "turns": COUNT,
    "holder": _HOLDER,
    "private": FLAG,
    "stopped": nullable(
        record(
            "Stop",
            {
                "count": COUNT,
                "not_stopped": array(described({}, "A process.")),
                "keys_pass": described(FLAG, "False while a program has grabbed the keyboard."),
            },
        )
    ),
    "asked": nullable(record("ControlRequest", {"name": TEXT, "left_s": NUMBER})),
    "last": nullable(_LAST),
}
LEASE = record(
    "Lease",
    {**_LEASE, "watchers": COUNT},
    {"granted": described(FLAG, "True if a request for control succeeded.")},
)

PAUSE = record("Pause", {"paused": FLAG})

_PROCESS = record("SessionProgram", {"running": FLAG, "pid": nullable(INTEGER)})
_X_SERVER = record(
    "XServer",
    {
        "running": FLAG,
        "pid": nullable(INTEGER),
        "live_view": FLAG,
        "state": TEXT,
        "restarts": COUNT,
        "recent_ends": COUNT,
        "last_end": nullable(TEXT),
        "next_start_s": nullable(NUMBER),
    },
)
_SESSION = record(
    "Session",
    {},
    {
        "dbus-daemon": _PROCESS,
        "openbox": _PROCESS,
        "tint2": _PROCESS,
        "window_manager_restarts": COUNT,
        "restarts": mapping(COUNT),
        "browser": record("SessionBrowser", {"program": TEXT, "refusal": TEXT}),
        "browser_sandbox": record("BrowserSandbox", {"setting": TEXT, "on": FLAG, "reason": TEXT}),
    },
)
_COMMAND_LIMITS = record(
    "CommandLimits",
    {
        "by": enum("LimitedBy", "rlimit", "cgroup"),
        "group": nullable(TEXT),
        "memory": record("MemoryLimit", {"bytes": nullable(COUNT), "by": TEXT}),
        "cpus": record("ProcessorLimit", {"count": nullable(NUMBER), "by": TEXT}),
        "reason": nullable(TEXT),
    },
)
_PROTECTION = record("Protection", {"name": TEXT, "state": TEXT, "because": nullable(TEXT)})
EGRESS = record(
    "Egress",
    {
        "mode": TEXT,
        "allow": array(TEXT),
        "grants": array(TEXT),
        "required": FLAG,
        "because": TEXT,
        "restarting": array(TEXT),
    },
)
DISK = record(
    "Disk", {"free_bytes": COUNT, "total_bytes": COUNT, "needed_bytes": COUNT, "low": FLAG}
)
STATUS = record(
    "Status",
    {
        "instance_id": TEXT,
        "display": TEXT,
        "size": SIZE,
        "model_size": SIZE,
        "uptime_s": NUMBER,
        "capture": nullable(TEXT),
        "watchers": COUNT,
        "lease": record("LeaseState", _LEASE),
        "recording_ids": array(TEXT),
        "last_activity_s": nullable(NUMBER),
        "command_limits": _COMMAND_LIMITS,
        "level": TEXT,
        "user": TEXT,
        "protections": array(_PROTECTION),
        "limits": described(nullable(ANY_OBJECT), "Limits of the whole desktop."),
        "version": TEXT,
        "egress": EGRESS,
        "disk": DISK,
        "speak": described(array(TEXT), "The dialects that are on."),
    },
    {
        "xserver": _X_SERVER,
        "session": _SESSION,
        "mode": described(TEXT, "`attach` for a screen that existed before."),
        "input": TEXT,
    },
)
DISPLAY = record(
    "Display", {"state": enum("DisplayState", "absent", "wanted", "starting", "running")}
)
SECRET_COUNT = record("SecretCount", {"count": COUNT})
