import asyncio
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.tool_calls.errors import CallRefused
from deskhand.desktop.tool_calls.identity import Identity
from deskhand.desktop.tool_calls.journal import LONGEST_LINE, Answer, CallJournal
from deskhand.desktop.tool_calls.once_detached import OncePerCallDetached
from deskhand.desktop.tool_calls.table import KEPT_SECONDS

CALL = Identity("chat", "call")
ANSWER: Answer = (200, {"message": "done"})


def service(folder: Path, now: float = 0.0) -> OncePerCallDetached:
    return OncePerCallDetached(
        lambda: 0.0, CallJournal(folder / "calls" / "calls.jsonl", lambda: now)
    )


async def answered() -> Answer:
    return ANSWER


async def started() -> str:
    return "process-id"


async def never() -> Any:
    raise AssertionError


def test_an_answer_outlives_the_service_that_gave_it(tmp_path: Path) -> None:
    assert asyncio.run(service(tmp_path).run(CALL, "d", answered)) == (ANSWER, True)
    for _ in range(2):
        found, fresh = asyncio.run(service(tmp_path).run(CALL, "d", never))
        assert (tuple(found), fresh) == (ANSWER, False)


def test_what_came_of_a_start_is_not_known_to_the_next_service(tmp_path: Path) -> None:
    asyncio.run(service(tmp_path).run(CALL, "d", started))
    with pytest.raises(CallRefused, match="not known") as caught:
        asyncio.run(service(tmp_path).run(CALL, "d", never))
    assert caught.value.code == "outcome_unknown"
    with pytest.raises(CallRefused) as other:
        asyncio.run(service(tmp_path).run(CALL, "other input", never))
    assert other.value.code == "input_mismatch"
    assert asyncio.run(service(tmp_path).run(Identity("chat", "new"), "d", started))[1]


def test_a_cancel_tells_what_an_earlier_service_answered_or_that_it_may_have_begun(
    tmp_path: Path,
) -> None:
    asyncio.run(service(tmp_path).run(CALL, "d", answered))
    assert service(tmp_path).cancel(CALL) == ANSWER
    asyncio.run(service(tmp_path).run(Identity("chat", "start"), "d", started))
    with pytest.raises(CallRefused, match="not known"):
        service(tmp_path).cancel(Identity("chat", "start"))
    assert service(tmp_path).cancel(Identity("chat", "new")) is None


def test_a_line_that_was_cut_and_one_that_is_old_are_passed_over(tmp_path: Path) -> None:
    asyncio.run(service(tmp_path).run(CALL, "d", started))
    file = tmp_path / "calls" / "calls.jsonl"
    file.write_text(file.read_text() + '5\n{"chat": "x"}\n{"chat": "chat", "call": "ca')
    with pytest.raises(CallRefused):
        asyncio.run(service(tmp_path).run(CALL, "d", never))
    assert asyncio.run(service(tmp_path, KEPT_SECONDS + 1).run(CALL, "d", started))[1]


def test_a_long_answer_is_not_kept(tmp_path: Path) -> None:
    async def long() -> Answer:
        return 200, {"message": "x" * LONGEST_LINE}

    asyncio.run(service(tmp_path).run(CALL, "d", long))
    with pytest.raises(CallRefused):
        asyncio.run(service(tmp_path).run(CALL, "d", never))


def test_a_journal_that_cannot_be_written_keeps_no_call_from_being_made(tmp_path: Path) -> None:
    (tmp_path / "calls").touch()
    assert asyncio.run(service(tmp_path).run(CALL, "d", answered)) == (ANSWER, True)
