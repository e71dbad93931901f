"""The tool with which an agent ends its turn, and the report that is assumed without it."""

from dataclasses import dataclass
from typing import Literal, cast, get_args

from deskhand.tools.conversation.conversation import Json, ReplyBlock, Text
from deskhand.tools.kit.support.spec import ToolSpec

Outcome = Literal["done", "partly", "blocked", "failed"]
Source = Literal["report", "assumed"]

REPORT = "report"
OUTCOMES: tuple[str, ...] = get_args(Outcome)

REPORT_SPEC = ToolSpec(
    REPORT,
    "End your work and hand over what came of it. Call it once, as your last action, after you"
    " have seen the result with your own eyes. Nothing you do after it counts.",
    {
        "type": "object",
        "properties": {
            "summary": {
                "type": "string",
                "description": "What was done and what was found, for a reader who saw none of it."
                " Facts asked for stand here in full.",
            },
            "outcome": {
                "type": "string",
                "enum": list(OUTCOMES),
                "description": "done: all of the task. partly: some of it. blocked: something"
                " outside your reach is in the way. failed: it could not be done.",
            },
            "evidence": {
                "type": "array",
                "items": {"type": ["integer", "string"]},
                "description": "Numbers of the steps, counted from 1, whose pictures show it.",
            },
        },
        "required": ["summary", "outcome"],
        "additionalProperties": False,
    },
)


def with_report(specs: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """Return the tools with the report tool behind them, unless it is among them already."""
    offered = any(spec.name == REPORT for spec in specs)
    return specs if offered else (*specs, REPORT_SPEC)


class BadReport(Exception):
    """The arguments are not a report; the message is for the model."""


@dataclass(frozen=True)
class Report:
    """Result of a turn."""

    summary: str
    outcome: Outcome
    source: Source
    evidence: tuple[int | str, ...] = ()


def read_report(arguments: Json) -> Report:
    """Parse the arguments of a call of the report tool.

    Raises:
        BadReport: If an argument is missing or has a wrong type or value.
    """
    summary = arguments.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        raise BadReport("summary is required: say in words what was done.")
    outcome = arguments.get("outcome")
    if outcome not in OUTCOMES:
        raise BadReport(f"outcome must be one of {', '.join(OUTCOMES)}.")
    # A model may send null for the optional list.
    evidence = arguments.get("evidence") or []
    if not isinstance(evidence, list) or not all(isinstance(e, int | str) for e in evidence):
        raise BadReport("evidence must be a list of step numbers.")
    return Report(summary.strip(), cast(Outcome, outcome), "report", tuple(evidence))


def assumed_report(content: tuple[ReplyBlock, ...]) -> Report:
    """Return a report of success for a turn that ended with plain text."""
    return Report(text_of(content), "done", "assumed")


def text_of(content: tuple[ReplyBlock, ...]) -> str:
    """Return the text of a reply, without its calls."""
    texts = (b.text.strip() for b in content if isinstance(b, Text))
    return "\n\n".join(text for text in texts if text)
