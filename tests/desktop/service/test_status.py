from dataclasses import replace

import pytest

from deskhand.desktop.geometry import Size
from deskhand.desktop.service.status import (
    StatusFacts,
    XServerFacts,
    attached_status,
    own_display_status,
)

FACTS = StatusFacts(
    instance="0123456789abcdef",
    display=":7",
    size=Size(1920, 1080),
    uptime=1.23456,
    viewers=2,
    lease={"revision": 3},
    recording_ids=("one",),
    since_last_action=0.98765,
    command_limits={"by": "rlimit"},
    level="user",
    user="deskhand-01",
    limits={"processes": 2000},
    protections=({"name": "namespaces", "state": "on", "because": None},),
    version="1.0",
    egress={"mode": "open"},
    disk={"low": False},
)
XSERVER = XServerFacts(
    pid=42,
    live_view=True,
    supervision={"state": "running", "restarts": 0},
    session={"restarts": {}},
    shared_memory=True,
)
ACTIVITY = {
    "watchers": 2,
    "lease": {"revision": 3},
    "recording_ids": ["one"],
    "last_activity_s": 0.988,
    "command_limits": {"by": "rlimit"},
    "level": "user",
    "user": "deskhand-01",
    "limits": {"processes": 2000},
    "protections": [{"name": "namespaces", "state": "on", "because": None}],
    "version": "1.0",
    "egress": {"mode": "open"},
    "disk": {"low": False},
    "speak": [],
}


def test_the_status_of_a_display_reports_its_x_server_and_session() -> None:
    assert own_display_status(FACTS, XSERVER) == {
        "instance_id": "0123456789abcdef",
        "display": ":7",
        "size": {"width": 1920, "height": 1080},
        "model_size": {"width": 1280, "height": 720},
        "uptime_s": 1.235,
        "xserver": {
            "running": True,
            "pid": 42,
            "live_view": True,
            "state": "running",
            "restarts": 0,
        },
        "session": {"restarts": {}},
        "capture": "mit-shm",
        **ACTIVITY,
    }


def test_an_x_server_without_a_process_does_not_run() -> None:
    xserver = own_display_status(FACTS, replace(XSERVER, pid=None))["xserver"]
    assert (xserver["running"], xserver["pid"]) == (False, None)


@pytest.mark.parametrize(("shared", "capture"), [(True, "mit-shm"), (False, "core")])
def test_capture_names_the_protocol_in_use(shared: bool, capture: str) -> None:
    assert own_display_status(FACTS, replace(XSERVER, shared_memory=shared))["capture"] == capture


def test_the_status_of_an_attached_screen_has_no_x_server() -> None:
    assert attached_status(FACTS) == {
        "mode": "attach",
        "instance_id": "0123456789abcdef",
        "display": ":7",
        "size": {"width": 1920, "height": 1080},
        "model_size": {"width": 1280, "height": 720},
        "uptime_s": 1.235,
        "capture": "mss and comparison",
        "input": "PyAutoGUI",
        **ACTIVITY,
    }


def test_before_the_first_action_there_is_no_last_activity() -> None:
    assert attached_status(replace(FACTS, since_last_action=None))["last_activity_s"] is None
