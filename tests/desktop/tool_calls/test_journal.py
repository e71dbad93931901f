import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.tool_calls.errors import CallRefused
from deskhand.desktop.tool_calls.journal import LEAST_GROWTH, LONGEST_LINE, Answer, Journal
from deskhand.desktop.tool_calls.table import KEPT_COUNT, KEPT_SECONDS

NOW = 1_800_000_000.0
KEY = ("chat", "call")
ANSWER: Answer = (200, {"output": "done"})


class Wall:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def refused(journal: Journal, digest: str = "d", key: tuple[str, str] = KEY) -> CallRefused:
    with pytest.raises(CallRefused) as caught:
        journal.earlier(key, digest)
    return caught.value


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines()


def test_a_call_that_never_began_has_no_answer() -> None:
    journal = Journal()
    assert journal.earlier(KEY, "d") is None
    assert not journal.answered(KEY)


def test_an_action_that_ended_keeps_its_last_answer() -> None:
    journal = Journal()
    journal.began(KEY, "d")
    journal.ended(KEY, "d", (200, {"output": "first step"}))
    journal.ended(KEY, "d", ANSWER)
    assert journal.earlier(KEY, "d") == ANSWER
    assert journal.earlier(KEY) == ANSWER
    assert journal.answered(KEY)


def test_an_id_used_for_another_input_is_refused() -> None:
    journal = Journal()
    journal.began(KEY, "d")
    assert refused(journal, "other").code == "input_mismatch"


def test_the_same_id_of_another_chat_is_another_call() -> None:
    journal = Journal()
    journal.began(KEY, "d")
    assert journal.earlier(("another", "call"), "d") is None


def test_an_action_without_an_answer_has_an_unknown_outcome() -> None:
    journal = Journal()
    journal.began(KEY, "d")
    assert not journal.answered(KEY)
    assert refused(journal).code == "outcome_unknown"
    assert "broke off" in str(refused(journal))


def test_actions_are_forgotten_after_an_hour(tmp_path: Path) -> None:
    file, wall = tmp_path / "calls.jsonl", Wall()
    journal = Journal(file, wall)
    journal.began(KEY, "d")
    wall.now += KEPT_SECONDS + 1
    assert journal.earlier(KEY, "d") is None
    journal.began(("chat", "next"), "d")
    assert not Journal(file, wall).answered(KEY)
    assert len(lines(file)) == 1


def test_the_newest_thousand_actions_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    journal = Journal(file)
    for number in range(KEPT_COUNT + 2):
        journal.began(("chat", str(number)), "d")
        journal.ended(("chat", str(number)), "d", ANSWER)
    assert [journal.answered(("chat", str(n))) for n in range(3)] == [False, False, True]
    Journal(file)
    assert len(lines(file)) == KEPT_COUNT


def test_the_file_of_actions_is_compacted_while_it_grows(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    journal = Journal(file)
    for number in range(4200):
        journal.began(("chat", str(number)), "d")
        journal.ended(("chat", str(number)), "d", ANSWER)
    assert len(lines(file)) < 8000
    assert Journal(file).earlier(("chat", "4199"), "d") == ANSWER


def test_the_file_of_detached_calls_is_compacted_by_its_size_while_it_grows(
    tmp_path: Path,
) -> None:
    file, wall = tmp_path / "calls.jsonl", Wall()
    journal = Journal(file, wall, detached=True)
    answer: Answer = (200, {"output": "x" * 20_000})
    largest = 0
    for number in range(150):
        wall.now += KEPT_SECONDS / 20
        journal.began(("chat", f"{number}"), "d")
        journal.ended(("chat", f"{number}"), "d", answer)
        largest = max(largest, file.stat().st_size)
    journal.began(("chat", "open"), "d")
    # What the file still needs is 0.4 MB, and what was written 3 MB.
    assert largest < 2.2 * LEAST_GROWTH
    # The calls of this service are in the table, and not in the memory of the journal.
    assert journal.earlier(("chat", "149"), "d") is None
    after = Journal(file, wall, detached=True)
    assert after.earlier(("chat", "149"), "d") == after.earlier(("chat", "131"), "d") == answer
    assert after.earlier(("chat", "0"), "d") is None
    assert refused(after, key=("chat", "open")).code == "outcome_unknown"


@pytest.mark.parametrize(
    ("detached", "written", "compacted"),
    [
        (
            False,
            [
                '["began", "chat", "call", "d", 1800000000.0, 0]',
                '["ended", "chat", "call", "d", 1800000001.0, 0, 200, {"output": "done"}]',
            ],
            ['["ended", "chat", "call", "d", 1800000001.0, 0, 200, {"output": "done"}]'],
        ),
        (
            True,
            [
                '{"chat": "chat", "call": "call", "digest": "d",'
                ' "at": 1800000000.0, "generation": 0}',
                '{"chat": "chat", "call": "call", "answer": [200, {"output": "done"}],'
                ' "at": 1800000001.0, "generation": 0}',
            ],
            [
                '{"chat": "chat", "call": "call", "digest": "d",'
                ' "at": 1800000000.0, "generation": 0}',
                '{"chat": "chat", "call": "call", "answer": [200, {"output": "done"}],'
                ' "at": 1800000000.0, "generation": 0}',
            ],
        ),
    ],
)
def test_each_format_is_written_and_read_again(
    tmp_path: Path, detached: bool, written: list[str], compacted: list[str]
) -> None:
    file, wall = tmp_path / "calls.jsonl", Wall()
    journal = Journal(file, wall, detached=detached)
    journal.began(KEY, "d")
    wall.now += 1
    journal.ended(KEY, "d", ANSWER)
    assert lines(file) == written
    assert Journal(file, wall, detached=detached).earlier(KEY, "d") == ANSWER
    assert lines(file) == compacted
    assert Journal(file, wall, detached=detached).earlier(KEY, "d") == ANSWER


@pytest.mark.parametrize(
    "written",
    [
        [
            '["began", "chat", "call", "d", 1800000000.0]',
            '["ended", "chat", "call", "d", 1800000001.0, 200, {"output": "done"}]',
        ],
        [
            '{"chat": "chat", "call": "call", "digest": "d", "at": 1800000000.0}',
            '{"chat": "chat", "call": "call", "answer": [200, {"output": "done"}],'
            ' "at": 1800000001.0}',
        ],
    ],
)
def test_files_of_earlier_versions_are_of_generation_0(tmp_path: Path, written: list[str]) -> None:
    file, detached = tmp_path / "calls.jsonl", written[0].startswith("{")
    file.write_text("\n".join(written))
    for _ in range(2):
        journal = Journal(file, Wall(), detached=detached)
        assert journal.earlier(KEY, "d") == ANSWER
        assert refused(journal, "other").code == "input_mismatch"
    file.write_text(written[0])
    assert refused(Journal(file, Wall(), detached=detached)).code == "outcome_unknown"


@pytest.mark.parametrize("detached", [False, True])
def test_the_generation_of_a_call_is_kept(tmp_path: Path, detached: bool) -> None:
    file = tmp_path / "calls.jsonl"
    journal = Journal(file, Wall(), detached=detached)
    journal.began(KEY, "d")
    journal.began(("chat", "open"), "d")
    journal.ended(KEY, "d", ANSWER)
    file.write_text(re.sub(r'(1800000000.0, (?:"generation": )?)0', r"\g<1>7", file.read_text()))
    for _ in range(2):
        journal = Journal(file, Wall(), detached=detached)
        assert journal.earlier(KEY, "d") == ANSWER
        assert {generation(line) for line in lines(file)} == {7}


@pytest.mark.parametrize("detached", [False, True])
def test_a_line_cut_off_anywhere_is_as_if_it_had_not_been_written(
    tmp_path: Path, detached: bool
) -> None:
    file = tmp_path / "calls.jsonl"
    journal = Journal(file, detached=detached)
    journal.began(KEY, "d")
    journal.ended(KEY, "d", ANSWER)
    began, ended = lines(file)
    for length in range(len(ended)):
        file.write_text(f"{began}\n{ended[:length]}")
        assert refused(Journal(file, detached=detached)).code == "outcome_unknown"
    for length in range(len(began)):
        file.write_text(began[:length])
        assert Journal(file, detached=detached).earlier(KEY, "d") is None


@pytest.mark.parametrize("detached", [False, True])
def test_lines_that_are_no_call_are_passed_over(tmp_path: Path, detached: bool) -> None:
    file = tmp_path / "calls.jsonl"
    journal = Journal(file, detached=detached)
    journal.began(KEY, "d")
    answer = '{"chat": "chat", "call": "never begun", "answer": [200, {}], "at": 1800000000.0}'
    junk = "\n".join(["5", "[]", '{"chat": "x"}', '["began"]', answer, ""])
    file.write_bytes(file.read_bytes() + junk.encode() + b"\x80\n")
    assert refused(Journal(file, detached=detached)).code == "outcome_unknown"
    assert len(lines(file)) == 1


def test_a_detached_journal_has_the_calls_of_earlier_services_for_as_long_as_it_lives(
    tmp_path: Path,
) -> None:
    file, wall = tmp_path / "calls.jsonl", Wall()
    first = Journal(file, wall, detached=True)
    first.began(KEY, "d")
    assert first.earlier(KEY, "d") is None
    second = Journal(file, wall, detached=True)
    wall.now += KEPT_SECONDS + 1
    assert "restarted" in str(refused(second))
    assert refused(second, "other").code == "input_mismatch"
    assert Journal(file, wall, detached=True).earlier(KEY, "d") is None


def test_a_long_answer_of_a_detached_call_is_not_kept(tmp_path: Path) -> None:
    for detached in (True, False):
        file = tmp_path / f"{detached}.jsonl"
        journal = Journal(file, detached=detached)
        journal.began(KEY, "d")
        journal.ended(KEY, "d", (200, {"message": "x" * LONGEST_LINE}))
        assert Journal(file, detached=detached).answered(KEY) is not detached


@pytest.mark.parametrize("detached", [False, True])
def test_a_file_that_cannot_be_written_prevents_no_call(tmp_path: Path, detached: bool) -> None:
    (tmp_path / "calls").touch()
    journal = Journal(tmp_path / "calls" / "calls.jsonl", detached=detached)
    journal.began(KEY, "d")
    journal.ended(KEY, "d", ANSWER)
    assert journal.answered(KEY) is not detached


steps = st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 5000)), max_size=30)


@given(steps)
def test_a_journal_read_from_its_file_knows_the_same(
    happened: list[tuple[bool, int, int]],
) -> None:
    with TemporaryDirectory() as folder:
        file, wall = Path(folder) / "calls.jsonl", Wall()
        journal = Journal(file, wall)
        begun: set[str] = set()
        for ends, number, later in happened:
            call = str(number)
            wall.now += later
            if ends and call in begun:
                journal.ended(("chat", call), "d", ANSWER)
            else:
                journal.began(("chat", call), "d")
                begun.add(call)
        known = [outcome(journal, str(number)) for number in range(4)]
        again = Journal(file, wall)
        assert [outcome(again, str(number)) for number in range(4)] == known
        assert all(wall.now - at(line) <= KEPT_SECONDS for line in lines(file))


def outcome(journal: Journal, call: str) -> Any:
    try:
        return journal.earlier(("chat", call), "d")
    except CallRefused as error:
        return error.code


def generation(line: str) -> int:
    found: Any = json.loads(line)
    number: int = found["generation"] if isinstance(found, dict) else found[5]
    return number


def at(line: str) -> float:
    found: float = json.loads(line)[4]
    return found


@pytest.mark.parametrize("detached", [False, True])
def test_the_highest_generation_of_each_chat_outlives_the_service(
    tmp_path: Path, detached: bool
) -> None:
    journal = Journal(tmp_path / "calls.jsonl", detached=detached)
    journal.began(("a", "1"), "d", 3)
    journal.ended(("a", "1"), "d", ANSWER, 3)
    journal.began(("a", "2"), "d", 2)
    journal.began(("b", "1"), "d")
    after = Journal(tmp_path / "calls.jsonl", detached=detached)
    assert after.generations() == {"a": 3, "b": 0}
