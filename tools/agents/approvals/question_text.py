"""Text of the question for an approval, which has the whole call. Pure.

Everything that shows a question shows this text: pages, terminals, webhooks, other agents. Whatever
is left out of it would be approved unseen. Characters that do not show, or that change the
direction of writing, are written as escapes.
"""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.tools.conversation.titles import step_title

from .risk_rules import FoundRisk

Json = dict[str, Any]

_UNSEEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
"""Unicode categories: controls, marks of direction and others without a glyph of their own."""
_INDENT = "    "


def question_text(name: str, arguments: Json, risks: Sequence[FoundRisk]) -> str:
    """Return the question for a person about a call of a tool or an action.

    A call that its title does not show whole follows after an empty line, argument by argument.
    """
    title, reasons = step_title(name, arguments), "; ".join(risk.reason for risk in risks)
    asked = f"May the agent do this? {title} — because {reasons}."
    # Reasons have names of windows and fields, which must not look like a call.
    sentence = visible(" ".join(asked.split()))
    if _shows_all(title, name, arguments):
        return sentence
    listed = "\n".join(_argument(one, value) for one, value in arguments.items())
    return f"{sentence}\n\n{name}\n{listed}"


def visible(text: str) -> str:
    """Return a text with escapes for characters that do not show, but line breaks and tabs."""
    return "".join(
        one.encode("unicode_escape", "backslashreplace").decode()
        if one not in "\n\t" and unicodedata.category(one) in _UNSEEN
        else one
        for one in text
    )


def _shows_all(title: str, name: str, arguments: Mapping[str, Any]) -> bool:
    if len(arguments) > 1:
        return False
    for value in arguments.values():
        point = isinstance(value, list) and all(isinstance(axis, int) for axis in value)
        shown = ", ".join(map(str, value)) if point else value
        return title == f"{name}: {shown}"
    return True


def _argument(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    lines = visible(text).split("\n")
    if len(lines) == 1:
        return f"{visible(name)}: {lines[0]}"
    return "\n".join((f"{visible(name)}:", *(f"{_INDENT}{line}" for line in lines)))
