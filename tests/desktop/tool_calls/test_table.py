import pytest

from deskhand.desktop.tool_calls.errors import CallRefused
from deskhand.desktop.tool_calls.table import KEPT_COUNT, KEPT_SECONDS, CallTable
from tests.given import CASES

KEY = ("chat", "call")


def counting() -> tuple[CallTable[int], list[int]]:
    return CallTable(), []


def run(table: CallTable[int], runs: list[int], call: str, now: float, digest: str = "d") -> int:
    def begin() -> int:
        runs.append(len(runs) + 1)
        return runs[-1]

    return table.run(("chat", call), digest, now, begin)[0]


def test_a_call_runs_once() -> None:
    table, runs = counting()
    assert table.run(KEY, "d", 0.0, lambda: 1) == (1, True)
    assert table.run(KEY, "d", 1.0, lambda: 2) == (1, False)
    assert run(table, runs, "other", 1.0) == 1


def test_other_input_under_the_same_id_is_refused() -> None:
    table, runs = counting()
    run(table, runs, "call", 0.0)
    with pytest.raises(CallRefused) as refused:
        run(table, runs, "call", 0.0, digest="another")
    assert refused.value.code == "input_mismatch"
    assert runs == [1]


def test_the_same_id_of_another_chat_is_another_call() -> None:
    table: CallTable[int] = CallTable()
    assert table.run(("a", "call"), "d", 0.0, lambda: 1) == (1, True)
    assert table.run(("b", "call"), "e", 0.0, lambda: 2) == (2, True)


def test_a_cancel_keeps_a_late_start_from_running() -> None:
    table, runs = counting()
    assert table.cancel(KEY, 0.0) is None
    with pytest.raises(CallRefused, match="canceled") as refused:
        run(table, runs, "call", 1.0)
    assert refused.value.code == "tool_call_canceled"
    assert runs == []


def test_a_cancel_of_a_call_that_ran_gives_its_result() -> None:
    table, runs = counting()
    run(table, runs, "call", 0.0)
    assert table.cancel(KEY, 1.0) == 1


@pytest.mark.parametrize(
    "name", ["toolcall.table/repeat_refreshes_expiry", "toolcall.table/cancel_refreshes_expiry"]
)
def test_asking_again_refreshes_the_expiry(name: str) -> None:
    table, runs = counting()
    now = 0.0
    steps = CASES[name]["request"]
    for step in steps[:-1]:
        now += step.get("advance_clock_s", 0)
        if "run" in step:
            run(table, runs, step["call"], now)
        elif "cancel" in step:
            table.cancel(("chat", step["cancel"]), now)
    expect = CASES[name]["expect"][-1]
    if "run_number" in expect:
        assert run(table, runs, "c1", now) == expect["run_number"]
    else:
        with pytest.raises(CallRefused, match="canceled"):
            run(table, runs, "c1", now)


def test_after_an_hour_a_call_is_unknown() -> None:
    table, runs = counting()
    run(table, runs, "call", 0.0)
    assert table.knows(KEY, KEPT_SECONDS)
    assert not table.knows(KEY, KEPT_SECONDS + 1)
    assert not table.knows(("chat", "never"), 0.0)
    assert run(table, runs, "call", KEPT_SECONDS + 1) == 2


def test_the_ones_not_asked_for_longest_make_room() -> None:
    table, runs = counting()
    for number in range(KEPT_COUNT):
        run(table, runs, str(number), 0.0)
    run(table, runs, "0", 0.0)
    run(table, runs, "one more", 0.0)
    assert table.knows(("chat", "0"), 0.0)
    assert not table.knows(("chat", "1"), 0.0)


def test_old_ones_go_when_a_new_one_comes() -> None:
    table, runs = counting()
    run(table, runs, "old", 0.0)
    run(table, runs, "new", KEPT_SECONDS + 1)
    assert not table.knows(("chat", "old"), 0.0)


def test_a_call_is_forgotten_only_with_the_result_that_the_table_holds() -> None:
    table: CallTable[str] = CallTable(kept_seconds=10.0)
    table.run(KEY, "d", 0.0, lambda: "first")
    table.forget(KEY, "another")
    assert table.knows(KEY, 10.0)
    assert not table.knows(KEY, 11.0)
    table.forget(KEY, "first")
    table.forget(KEY, "first")
    assert not table.knows(KEY, 0.0)
