"""The tool with which an agent ends its turn, and the report that is assumed without it."""

from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from deskhand.desktop.fields import Field, Fields, one_of, word, wrong
from deskhand.tools.conversation.conversation import Json, ReplyBlock, Text
from deskhand.tools.kit.support.arguments import read_arguments
from deskhand.tools.kit.support.spec import ToolSpec

Outcome = Literal["done", "partly", "blocked", "failed"]
Source = Literal["report", "assumed"]

REPORT = "report"
OUTCOMES: tuple[str, ...] = get_args(Outcome)


def _steps(name: str, value: Any) -> tuple[int | str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, int | str) for one in value):
        raise wrong(name, "a list of step numbers")
    return tuple(value)


_ARGUMENTS = Fields(
    {
        "summary": Field(
            {
                "type": "string",
                "description": "What was done and what was found, for a reader who saw none of it."
                " Facts asked for stand here in full.",
            },
            word,
        ),
        "outcome": Field(
            {
                "type": "string",
                "enum": list(OUTCOMES),
                "description": "done: all of the task. partly: some of it. blocked: something"
                " outside your reach is in the way. failed: it could not be done.",
            },
            one_of(*OUTCOMES),
        ),
        "evidence": Field(
            {
                "type": "array",
                "items": {"type": ["integer", "string"]},
                "description": "Numbers of the steps, counted from 1, whose pictures show it.",
            },
            _steps,
            (),
        ),
    },
    ("summary", "outcome"),
)
REPORT_SPEC = ToolSpec(
    REPORT,
    "End your work and hand over what came of it. Call it once, as your last action, after you"
    " have seen the result with your own eyes. Nothing you do after it counts.",
    {**_ARGUMENTS.schema, "additionalProperties": False},
    _ARGUMENTS,
)


def with_report(specs: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """Return the tools with the report tool behind them, unless it is among them already."""
    offered = any(spec.name == REPORT for spec in specs)
    return specs if offered else (*specs, REPORT_SPEC)


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
        BadField: If an argument is unknown, missing or wrong.
    """
    given = read_arguments(REPORT_SPEC, arguments)
    outcome = cast(Outcome, given["outcome"])
    return Report(given["summary"], outcome, "report", given["evidence"])


def assumed_report(content: tuple[ReplyBlock, ...]) -> Report:
    """Return a report of success for a turn that ended with plain text."""
    return Report(text_of(content), "done", "assumed")


def text_of(content: tuple[ReplyBlock, ...]) -> str:
    """Return the text of a reply, without its calls."""
    texts = (b.text.strip() for b in content if isinstance(b, Text))
    return "\n\n".join(text for text in texts if text)
