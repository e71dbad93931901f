import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.tool_calls.action_journal import (
    KEPT_COUNT,
    KEPT_SECONDS,
    ActionJournal,
    JournaledCall,
    digest,
    restored,
    without_pictures,
)
from deskhand.desktop.tool_calls.errors import CallRefused

NOW = 1_800_000_000.0
CALL = JournaledCall(("chat", "call"), "digest")
OTHER = JournaledCall(("chat", "call"), "other digest")
ANSWER = (200, {"output": "done"})


def test_a_call_that_was_never_begun_has_no_answer() -> None:
    journal = ActionJournal()
    assert journal.earlier(CALL, NOW) is None
    assert not journal.answered(CALL.key)


def test_a_finished_call_keeps_its_answer_without_the_picture() -> None:
    journal = ActionJournal()
    journal.began(CALL, NOW)
    journal.ended(CALL, (200, {"output": "done", "screenshot_data": "AAAA"}), NOW + 1)
    assert journal.earlier(CALL, NOW + 2) == ANSWER
    assert journal.answered(CALL.key)


def test_an_id_used_for_another_input_is_refused() -> None:
    journal = ActionJournal()
    journal.began(CALL, NOW)
    with pytest.raises(CallRefused, match="different input") as caught:
        journal.earlier(OTHER, NOW)
    assert caught.value.code == "input_mismatch"


def test_another_chats_id_of_the_same_text_is_another_call() -> None:
    journal = ActionJournal()
    journal.began(CALL, NOW)
    assert journal.earlier(JournaledCall(("another", "call"), "digest"), NOW) is None


def test_nobody_knows_how_a_call_without_an_answer_went() -> None:
    journal = ActionJournal()
    journal.began(CALL, NOW)
    assert not journal.answered(CALL.key)
    with pytest.raises(CallRefused, match="broke off") as caught:
        journal.earlier(CALL, NOW)
    assert caught.value.code == "outcome_unknown"


def test_calls_are_forgotten_after_an_hour() -> None:
    journal = ActionJournal()
    journal.began(CALL, NOW)
    assert journal.earlier(CALL, NOW + KEPT_SECONDS + 1) is None
    journal.began(JournaledCall(("chat", "next"), "digest"), NOW + KEPT_SECONDS + 1)
    assert len(list(journal.lines())) == 1


def test_the_newest_thousand_are_kept() -> None:
    journal = ActionJournal()
    calls = [JournaledCall(("chat", str(number)), "digest") for number in range(KEPT_COUNT + 2)]
    for call in calls:
        journal.began(call, NOW)
        journal.ended(call, ANSWER, NOW)
    assert [journal.answered(call.key) for call in calls[:3]] == [False, False, True]
    assert len(list(journal.lines())) == KEPT_COUNT


def test_what_was_written_can_be_read_again() -> None:
    journal = ActionJournal()
    begun = JournaledCall(("chat", "begun"), "digest")
    old = JournaledCall(("chat", "old"), "digest")
    lines = [
        journal.began(old, NOW - 2 * KEPT_SECONDS),
        journal.began(CALL, NOW),
        journal.ended(CALL, ANSWER, NOW),
        journal.began(begun, NOW),
    ]
    for written in (lines, list(journal.lines())):
        again = restored(written, NOW)
        assert again.earlier(CALL, NOW) == ANSWER
        assert again.earlier(old, NOW) is None
        with pytest.raises(CallRefused):
            again.earlier(begun, NOW)


def test_a_line_cut_off_anywhere_is_as_if_it_had_not_been_written() -> None:
    journal = ActionJournal()
    began, ended = journal.began(CALL, NOW), journal.ended(CALL, ANSWER, NOW)
    for length in range(len(ended)):
        with pytest.raises(CallRefused, match="broke off"):
            restored([began, ended[:length]], NOW).earlier(CALL, NOW)
    for length in range(len(began)):
        assert restored([began[:length]], NOW).earlier(CALL, NOW) is None


def test_the_order_of_fields_and_the_known_frame_do_not_make_another_input() -> None:
    one: dict[str, Any] = {"action": "key", "text": "a", "observe": {"since": "b-1"}}
    two: dict[str, Any] = {"observe": {"since": "b-2"}, "text": "a", "action": "key"}
    assert digest("/action", one) == digest("/action", two)
    assert digest("/action", one) != digest("/action", {**one, "text": "b"})
    assert digest("/action", one) != digest("/actions", one)
    assert digest("/action", {"observe": True}) != digest("/action", {"observe": {}})


def test_pictures_inside_a_batch_are_not_kept_either() -> None:
    body = {"results": [{"output": "screenshot", "screenshot_data": "AA"}], "skipped": 0}
    assert without_pictures(body) == {"results": [{"output": "screenshot"}], "skipped": 0}


steps = st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 5000)), max_size=30)


@given(steps)
def test_a_journal_read_from_its_lines_knows_the_same(
    happened: list[tuple[bool, int, int]],
) -> None:
    journal = ActionJournal()
    written = []
    now = NOW
    for ends, number, later in happened:
        call = JournaledCall(("chat", str(number)), "digest")
        now += later
        if ends and call.key in set(map(_key, journal.lines())):
            written.append(journal.ended(call, ANSWER, now))
        else:
            written.append(journal.began(call, now))
    again = restored(written, now)
    fresh = [line for line in journal.lines() if now - _at(line) <= KEPT_SECONDS]
    assert sorted(again.lines()) == sorted(fresh)


def _key(line: str) -> tuple[str, str]:
    _, chat, name, *_ = json.loads(line)
    return chat, name


def _at(line: str) -> float:
    at: float = json.loads(line)[4]
    return at
