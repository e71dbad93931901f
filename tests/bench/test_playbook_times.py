from typing import Any

from bench.playbook_times import RunTimes, compared, median_times, run_times


def _step(tool: str, action: str | None, started_at: float) -> dict[str, Any]:
    return {"tool": tool, "action": action, "started_at": started_at}


def test_times_are_those_of_the_run_and_from_its_first_action() -> None:
    steps = [
        *(_step("execute", None, 12), _step("computer", "screenshot", 13)),
        *(_step("computer", "left_click", 14), _step("type_secret", None, 15)),
    ]
    chat = {"created_at": 10, "ended_at": 20, "steps": steps}
    assert run_times(chat) == RunTimes(10, 6)
    assert run_times({**chat, "steps": [steps[3]]}) == RunTimes(10, 5)
    assert run_times({**chat, "steps": steps[:2]}) == RunTimes(10, 0)
    assert median_times([RunTimes(1, 9), RunTimes(3, 7), RunTimes(2, 8)]) == RunTimes(2, 8)


def test_a_replay_is_compared_with_the_run_that_it_was_saved_from() -> None:
    found = compared(RunTimes(15, 9), RunTimes(3, 0.5), 2.0, 5)
    assert (found["times_faster"], found["times_faster_acting"]) == (5.0, 18.0)
    # 5 s without thinking: 10 x 3 s are reached with 5 s before each of 5 replies.
    assert found["ten_times_from_think_seconds"] == 5.0
    assert (
        compared(RunTimes(15, 9), RunTimes(0.4, 0.1), 2.0, 5)["ten_times_from_think_seconds"] == 0.0
    )
