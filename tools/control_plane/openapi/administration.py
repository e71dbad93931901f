"""Answers about the service itself, its desktops, secrets and audit log."""

from deskhand.vncbridge.openapi.schemas import (
    ANY_OBJECT,
    COUNT,
    FLAG,
    INTEGER,
    NUMBER,
    TEXT,
    array,
    described,
    mapping,
    nullable,
    record,
)

HEALTH = record("Health", {"status": TEXT})
_DISK = record(
    "Disk",
    {"free_bytes": COUNT, "low": FLAG},
    {"total_bytes": COUNT, "needed_bytes": COUNT, "reserve": TEXT},
)
NODE = record(
    "Node",
    {
        "name": TEXT,
        "address": TEXT,
        "version": TEXT,
        "places": COUNT,
        "desktops": COUNT,
        "state": described(TEXT, "`up`, `draining`, `refused` or `down`."),
        "reason": described(TEXT, "Why it gets no desktops."),
        "failures": described(COUNT, "Starts that have failed in a row."),
        "draining": FLAG,
        "seen_ago_s": NUMBER,
    },
)
_PROTECTION = record(
    "PlaneProtection",
    {"name": TEXT, "state": TEXT, "because": nullable(TEXT), "remedy": nullable(TEXT)},
)
STATUS = record(
    "Status",
    {"version": TEXT},
    {
        "model": described(TEXT, "This and the others for administrators only."),
        "key_set": FLAG,
        "data_dir": TEXT,
        "free_bytes": COUNT,
        "disk": _DISK,
        "chats": described(mapping(COUNT), "Number of chats by state."),
        "desktops": described(mapping(COUNT), "Number of desktops by status."),
        "desktop_limits": nullable(ANY_OBJECT),
        "protections": described(array(_PROTECTION), "Of the control plane itself."),
        "event_streams": COUNT,
        "dropped_thinking": COUNT,
        "resumed_by_supervisor": COUNT,
        "nodes": described(array(NODE), "In a cluster."),
        "desktops_waiting": described(COUNT, "Desktops that wait for a place; in a cluster."),
    },
)
DESKTOP = record(
    "Desktop",
    {
        "id": TEXT,
        "name": nullable(TEXT),
        "status": TEXT,
        "chat_id": nullable(TEXT),
        "created_at": NUMBER,
        "live_url": nullable(TEXT),
        "level": TEXT,
        "pid": nullable(INTEGER),
        "browser_warning": TEXT,
        "missing_protections": array(TEXT),
        "has_display": FLAG,
        "egress": nullable(ANY_OBJECT),
        "speak": array(TEXT),
        "profile": nullable(TEXT),
    },
)
_USAGE = record("DiskUsage", {"name": TEXT, "files": COUNT, "bytes": COUNT})
SYSTEM = record(
    "SystemReport",
    {
        "version": TEXT,
        "settings": array(
            record("SettingInForce", {"name": TEXT, "value": TEXT, "source": TEXT}),
        ),
        "disk_by_kind": array(_USAGE),
        "disk_by_run": described(array(_USAGE), "Of the runs that take most; the name is the id."),
        "secrets": described(array(TEXT), "Names, never values."),
        "desktops": described(mapping(COUNT), "Number of desktops by status."),
        "errors": described(
            array(record("LoggedError", {"time": TEXT, "logger": TEXT, "text": TEXT})),
            "Of the log, the newest first.",
        ),
    },
    {"nodes": described(array(NODE), "In a cluster.")},
)
MODELS = record(
    "Models",
    {
        "usual": TEXT,
        "models": array(
            record("KnownModel", {"model": TEXT, "provider": TEXT, "has_key": FLAG}),
        ),
        "scripts": array(record("KnownScript", {"model": TEXT, "about": TEXT})),
    },
)
PROFILES = record(
    "Profiles",
    {
        "profiles": array(
            record(
                "Profile",
                {"name": TEXT, "bytes": COUNT, "used_at": NUMBER, "desktop_id": nullable(TEXT)},
            )
        )
    },
)
DESKTOPS = record("Desktops", {"desktops": array(DESKTOP)})
SECRET = record(
    "Secret",
    {
        "name": TEXT,
        "kind": TEXT,
        "chats": nullable(array(TEXT)),
        "domains": nullable(array(TEXT)),
        "anywhere": FLAG,
        "any_field": FLAG,
        "without_execute": FLAG,
        "state": TEXT,
    },
)
SECRETS = record("Secrets", {"secrets": array(SECRET)})
AUDIT_RECORDS = record(
    "AuditRecords",
    {
        "records": array(
            record(
                "AuditRecord",
                {
                    "writer": TEXT,
                    "n": COUNT,
                    "at": NUMBER,
                    "actor": TEXT,
                    "action": TEXT,
                    "subject": TEXT,
                    "details": ANY_OBJECT,
                    "previous": TEXT,
                    "hash": TEXT,
                },
            )
        ),
        "next_cursor": nullable(TEXT),
    },
)
AUDIT_VERIFICATION = record(
    "AuditVerification",
    {
        "intact": FLAG,
        "problems": array(TEXT),
        "heads": array(record("AuditHead", {"writer": TEXT, "n": COUNT, "hash": TEXT})),
    },
)
