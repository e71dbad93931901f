import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.actions.catalog import ActionRecord
from deskhand.desktop.metrics.exposition import (
    Metric,
    Sample,
    Tally,
    exposition,
    process_metrics,
    status_metrics,
)

STATUS: dict[str, Any] = {
    "version": "1.2",
    "instance_id": "abc",
    "uptime_s": 7.5,
    "watchers": 2,
    "recording_ids": ["a", "b"],
    "lease": {"holder": {"kind": "person", "name": "Ada"}},
    "last_activity_s": 1.25,
    "xserver": {"running": True, "restarts": 3},
}
LABEL = re.compile(r'name\{label="((?:[^"\\\n]|\\["\\n])*)"\} \S+')
ESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def record(action: str, started: float, ended: float, error: str | None = None) -> ActionRecord:
    return ActionRecord("", "", action, None, None, None, started, ended, None, error, {})


def exposition_lines(status: dict[str, Any]) -> list[str]:
    return exposition(status_metrics(status)).splitlines()


def test_the_status_is_exported_as_numbers() -> None:
    lines = exposition_lines(STATUS)
    assert 'deskhand_desktop_info{version="1.2",instance_id="abc"} 1' in lines
    assert "# TYPE deskhand_display_restarts_total counter" in lines
    for line in (
        "uptime_seconds 7.5",
        "watchers 2",
        "recordings_active 2",
        "human_in_control 1",
        "idle_seconds 1.25",
        "display_up 1",
        "display_restarts_total 3",
    ):
        assert f"deskhand_{line}" in lines


def test_unknown_values_are_left_out() -> None:
    attached = {name: value for name, value in STATUS.items() if name != "xserver"}
    text = "\n".join(exposition_lines(attached | {"last_activity_s": None}))
    assert "display_up" not in text
    assert "idle_seconds" not in text


def test_actions_are_counted_by_name_with_their_time_and_failures() -> None:
    tally = Tally()
    for one in (record("key", 1, 1.5), record("key", 2, 3, "no"), record("wait", 0, 4)):
        tally.add(one)
    assert exposition(tally.metrics()).splitlines()[1:6] == [
        "# TYPE deskhand_action_seconds summary",
        'deskhand_action_seconds_sum{action="key"} 1.5',
        'deskhand_action_seconds_count{action="key"} 2',
        'deskhand_action_seconds_sum{action="wait"} 4',
        'deskhand_action_seconds_count{action="wait"} 1',
    ]
    assert 'deskhand_action_failures_total{action="key"} 1\n' in exposition(tally.metrics())


def test_before_the_first_action_no_action_is_reported() -> None:
    assert exposition(Tally().metrics()) == ""


def test_the_service_has_the_usual_names() -> None:
    lines = exposition(process_metrics(0.25, 70_000_000)).splitlines()
    assert "# TYPE process_cpu_seconds_total counter" in lines
    assert "process_resident_memory_bytes 70000000" in lines


@given(st.text(), st.floats(allow_nan=False))
def test_any_label_can_be_read_back(label: str, value: float) -> None:
    metric = Metric("name", "gauge", "Meaning.", (Sample(value, {"label": label}),))
    *_, line, end = exposition([metric]).split("\n")
    found = LABEL.fullmatch(line)
    assert found is not None
    assert re.sub(r"\\.", lambda one: ESCAPED[one[0]], found[1]) == label
    assert end == ""


def test_status_messages_are_counted_by_their_result() -> None:
    tally = Tally()
    tally.add_status(dropped=False)
    tally.add_status(dropped=True)
    tally.add_status(dropped=True)
    text = exposition(tally.metrics())
    assert 'deskhand_status_messages_total{result="accepted"} 1\n' in text
    assert 'deskhand_status_messages_total{result="dropped"} 2\n' in text
