from deskhand.tools.agents.costs.counts import CostCounts, TimeHistogram
from deskhand.tools.agents.providers.port import Usage


def test_tokens_and_cost_are_added_up() -> None:
    counts = CostCounts()
    counts.add_usage(Usage(1, 2, 3, 4, thinking_tokens=1, cost_usd=0.5))
    counts.add_usage(Usage(10, cost_usd=None))
    expected = {"input": 11, "output": 2, "cache_read": 3, "cache_write": 4, "thinking": 1}
    assert dict(counts.tokens) == expected
    assert (counts.cost_usd, counts.unpriced) == (0.5, 1)


def test_buckets_are_cumulative() -> None:
    times = TimeHistogram()
    for seconds in (0.005, 0.006, 1000.0):
        times.add(seconds)
    found = dict(times.cumulative())
    assert (found["0.005"], found["0.01"], found["60.0"], found["+Inf"]) == (1, 2, 2, 3)
    assert times.seconds == 1000.011


def test_a_step_counts_in_the_stages_that_it_has() -> None:
    counts = CostCounts()
    counts.add_step({"own_ms": 20.0, "model_first_byte_ms": 1.0})
    assert counts.times["own_ms"].seconds == 0.02
    assert dict(counts.times["act_ms"].cumulative())["+Inf"] == 0
