from typing import Any

import pytest

from deskhand.tools.conversation.run_recording import (
    LATER,
    NOT_STORED,
    RecordedSession,
    ended,
    session,
    video_times,
    with_session,
    without_addresses,
)

Json = dict[str, Any]


def recorded(began: float, *file_ids: str, reason: str = "completed") -> RecordedSession:
    parts = [
        {"index": n, "video_start": 2.0 * n, "bytes": 7, "end_reason": reason}
        for n, _ in enumerate(file_ids)
    ]
    metadata = {
        "started_at": began,
        "video_s": 2.0 * len(parts),
        "end_reason": reason,
        "complete": reason == "completed",
        "parts": parts,
    }
    return session(metadata, file_ids, f"thumbnail of {file_ids[0]}")


def test_sessions_are_in_the_order_in_which_they_began() -> None:
    later = with_session({}, recorded(20.0, "c"))
    both = with_session(later, recorded(10.0, "a", "b", reason="service_lost"))
    assert both["file_ids"] == ["a", "b", "c"]
    assert [part["video_start"] for part in both["parts"]] == [0.0, 2.0, 4.0]
    assert (both["end_reason"], both["complete"]) == ("service_lost", False)
    assert both["thumbnail_file_id"] == "thumbnail of c"
    assert both["status"] == "stored"


def test_a_complete_recording_ends_as_its_last_session() -> None:
    both = with_session(with_session({}, recorded(1.0, "a")), recorded(2.0, "b"))
    assert (both["end_reason"], both["complete"]) == ("completed", True)


def test_a_running_turn_is_still_recorded() -> None:
    running = with_session({"status": "recording"}, recorded(1.0, "a"))
    assert running["status"] == "recording"
    assert ended(running, "closed", None)["status"] == "stored"


@pytest.mark.parametrize("warning", [LATER, f"{NOT_STORED}: its desktop is gone"])
def test_the_warning_that_a_session_is_missing_ends_with_its_storing(warning: str) -> None:
    missing = ended({}, "failed", warning)
    assert missing["warning"] == warning
    assert with_session(missing, recorded(1.0, "a"))["warning"] is None


def test_other_warnings_stay() -> None:
    assert with_session({"warning": "no thumbnail"}, recorded(1.0, "a"))["warning"] is not None


def test_a_turn_without_files_has_the_reason_it_ended_with() -> None:
    bare = ended({"status": "recording"}, "service_lost", "lost")
    assert (bare["status"], bare["end_reason"], bare["complete"]) == ("none", "service_lost", None)
    assert (bare["file_ids"], bare["warning"]) == ([], "lost")


def test_files_of_turns_without_sessions_stay_first() -> None:
    part = {"file_id": "b", "video_start": 0.0, "bytes": 3, "end_reason": "cap"}
    old: Json = {"status": "stored", "file_ids": ["a", "b"], "parts": [part], "complete": True}
    new = with_session(old, recorded(5.0, "c"))
    assert new["file_ids"] == ["a", "b", "c"]
    assert new["parts"][1]["end_reason"] == "cap"
    assert with_session(new, recorded(9.0, "d"))["file_ids"] == ["a", "b", "c", "d"]


def test_a_session_without_thumbnail_has_none() -> None:
    metadata: Json = {"started_at": 1.0, "end_reason": None, "complete": False, "parts": []}
    assert with_session({}, session(metadata, (), None))["thumbnail_file_id"] is None


def test_addresses_on_the_desktop_are_left_out() -> None:
    metadata = {"id": "x", "video_url": "/gone", "parts": [{"file_id": "x/1", "bytes": 1}]}
    assert without_addresses(metadata) == {"id": "x", "parts": [{"bytes": 1}]}


def test_steps_of_other_chats_have_no_times() -> None:
    step = {"video_start": 1.0, "video_end": 2.0}
    steps = [
        step | {"tool_call_id": "a", "chat_id": "mine"},
        step | {"tool_call_id": "b"},
        step | {"tool_call_id": "c", "chat_id": "other"},
        step | {"chat_id": "mine"},
    ]
    assert video_times(steps, "mine") == {"a": (1.0, 2.0), "b": (1.0, 2.0)}
