"""The cost of a run's history is a count of tokens, the same on every machine."""

import json
from typing import Any

import pytest

from bench import agent_policies, agent_run
from bench.agent_policies import BEST_PRACTICES, OURS_THEN
from bench.agents import OURS
from bench.tables import RESULTS

FIGURES: dict[str, Any] = json.loads((RESULTS / "agents.json").read_text())["history"]


@pytest.mark.parametrize(
    ("steps", "least_share", "most_by_then", "most_by_best"),
    [(50, 0.93, 0.85, None), (300, 0.0, 0.42, 1.0)],
)
def test_our_history_costs_what_was_measured_and_is_within_the_targets(
    steps: int, least_share: float, most_by_then: float, most_by_best: float | None
) -> None:
    measured = FIGURES[f"{steps}_steps"]["policies"]
    ours = agent_run.played(steps).figures()
    assert ours == measured[OURS], "run: python -m bench.agents"
    assert ours["share"] >= least_share
    assert ours["weighted"] <= most_by_then * measured[OURS_THEN]["weighted"]
    if most_by_best is not None:
        assert ours["weighted"] <= most_by_best * measured[BEST_PRACTICES]["weighted"]
    assert ours["longest"] <= 100_000
    assert ours["thinking_lost"] == 0


def test_the_policies_beside_ours_cost_what_was_measured() -> None:
    measured = FIGURES["50_steps"]["policies"]
    for name in (OURS_THEN, BEST_PRACTICES):
        assert agent_policies.played(name, 50).figures() == measured[name]


def test_our_requests_to_a_model_whose_thinking_is_not_bound_are_as_measured() -> None:
    name = "ours, thinking not bound: keep 3, batch 8"
    figures = agent_run.played(50, agent_run.UNBOUND).figures()
    assert {**figures, "thinking_lost": 0} == FIGURES["50_steps"]["policies"][name]
