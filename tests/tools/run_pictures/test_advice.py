"""What would make a run faster."""

from itertools import accumulate

from deskhand.tools.run_pictures.advice import MOST, advice
from deskhand.tools.run_pictures.waterfall import Kind, Row, TimeSpan, Waterfall


def run(*rows: tuple[str, dict[Kind, float]], failed: bool = False) -> Waterfall:
    """A run of steps, each with its action and its seconds by kind."""
    made: list[Row] = []
    at = 0.0
    for index, (what, seconds) in enumerate(rows):
        ends = [*accumulate(seconds.values(), initial=at)]
        spans = [
            TimeSpan(kind, begin, end)
            for kind, begin, end in zip(seconds, ends, ends[1:], strict=False)
        ]
        made.append(Row(index, str(index), f"{what} {index}", what, failed, (*spans,)))
        at = ends[-1]
    return Waterfall((*made,))


def rules(found: Waterfall) -> list[str]:
    """The rules that speak, in their order."""
    return [one.rule for one in advice(found)]


def test_a_run_without_steps_needs_no_advice() -> None:
    assert advice(Waterfall(())) == []


def test_small_shares_need_no_advice() -> None:
    assert rules(run(("left_click", {"action": 97, "settle": 3}))) == []
    assert rules(run(("left_click", {"action": 0.1, "settle": 0.9}))) == []


def test_each_kind_of_time_has_its_advice() -> None:
    assert rules(run(("left_click", {"model": 60, "action": 40}))) == ["model"]
    assert rules(run(("left_click", {"settle": 6, "action": 60}))) == ["settle"]
    assert rules(run(("left_click", {"queue": 6, "action": 60}))) == ["queue"]
    assert rules(run(("left_click", {"person": 6, "action": 60}))) == ["person"]
    assert rules(run(("wait", {"waiting": 6}))) == ["waits"]
    assert rules(run(("wait_agent", {"waiting": 6}))) == ["agents"]
    assert rules(run(("wait_for", {"waiting": 6}))) == []
    assert rules(run(("left_click", {"action": 6}), failed=True)) == ["failures"]


def test_the_longest_command_is_named() -> None:
    found = run(("execute", {"commands": 3}), ("execute", {"commands": 75}))
    (one,) = advice(found)
    assert (one.rule, one.seconds) == ("commands", 78)
    assert "1 min 18 s, the longest one 1 min 15 s (step 2)" in one.text


def test_steps_that_only_looked_are_counted() -> None:
    look: tuple[str, dict[Kind, float]] = ("screenshot", {"action": 2})
    assert rules(run(look, look)) == []
    assert rules(run(look, look, look)) == ["looks"]


def test_repetitions_are_steps_of_the_same_words() -> None:
    spans = (TimeSpan("action", 0, 2),)
    rows = [Row(index, "s", "Click", "left_click", False, spans) for index in range(4)]
    (one,) = advice(Waterfall((Row(None, "c", "Ada", "", False, ()), *rows)))
    assert (one.rule, one.seconds) == ("repetitions", 8)
    assert one.text.startswith("4 steps repeated the one before, first at step 1")
    assert advice(Waterfall((*rows[:2],))) == []


def test_what_takes_the_most_time_comes_first_and_a_few_are_enough() -> None:
    busy: dict[Kind, float] = {"settle": 10, "queue": 20, "person": 30, "waiting": 40}
    found = run(("wait", busy), ("execute", {"commands": 50}), ("a", {}), failed=True)
    assert rules(found) == ["failures", "commands", "waits", "person", "queue"]
    assert len(rules(found)) == MOST


def test_an_advice_is_json() -> None:
    (one,) = advice(run(("wait", {"waiting": 6})))
    assert one.to_json() == {"rule": "waits", "seconds": 6, "text": one.text}
    assert "1 step waited a fixed time, 6.0 s in all" in one.text
