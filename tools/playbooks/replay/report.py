"""Reports of replays: what was done, or where and why a replay stopped. Pure."""

import json
from typing import Any

from deskhand.tools.playbooks.playbook import Playbook, PlaybookStep

Json = dict[str, Any]


def step_name(number: int, step: PlaybookStep | None) -> str:
    """Return the name of a step for people; numbers count from 0, the start has none."""
    if step is None:
        return "The start"
    purpose = f" ({step.intent})" if step.intent else ""
    return f"Step {number + 1}, {step.action}{purpose}"


def not_found(name: str, searched: str, seen: str, *, ambiguous: bool) -> str:
    """Return the report on a target that was not found."""
    what = "the target is ambiguous" if ambiguous else "the target is not on the screen"
    return f"{name}: {what}. Searched for: {searched}. Seen: {seen}."


def unmet(name: str, conditions: tuple[str, ...], seen: Json) -> str:
    """Return the report on conditions that did not become true."""
    there = json.dumps(seen, ensure_ascii=False)
    return f"{name}: not met in time: {', '.join(conditions)}. Seen: {there}."


def stopped(playbook: Playbook, reason: str, performed: int) -> str:
    """Return the report of a replay that stopped."""
    return (
        f"The replay of {playbook.name} stopped after {performed} of {len(playbook.steps)} steps."
        f" {reason}"
    )


def finished(playbook: Playbook) -> str:
    """Return the report of a replay that reached its end."""
    steps, checks = len(playbook.steps), len(playbook.check)
    passed = f" and passed {checks} checks" if checks else ""
    return f"The replay of {playbook.name} performed {steps} steps{passed}."
