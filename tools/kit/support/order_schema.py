"""The arguments with which an agent starts another one. Pure.

Those that a request for a chat has too are read by the same functions as there.
"""

from typing import Any

from deskhand.desktop.fields import (
    Field,
    Fields,
    any_text,
    anything,
    each,
    filled_text,
    nested,
    number,
    one_of,
    optional_word,
    outside,
    spoken_flag,
    whole_number,
)
from deskhand.desktop.network.egress import MODES
from deskhand.tools.conversation.chat_start import LONGEST_TIMEOUT, MOST_FILES
from deskhand.tools.conversation.restrictions import MODES as APPROVAL_MODES

from .spec import Json

_TEXT: Json = {"type": "string"}


def _amount(name: str, value: Any) -> float:
    amount = number(name, value)
    if not amount > 0:
        raise outside(name, "must be more than 0")
    return amount


def _whole_amount(name: str, value: Any) -> int:
    _amount(name, value)
    return whole_number(name, value)


_BUDGET = Fields(
    {
        "steps": Field({"type": "integer", "minimum": 1}, _whole_amount),
        "minutes": Field({"type": "number", "exclusiveMinimum": 0}, _amount),
        "tokens": Field({"type": "integer", "minimum": 1}, _whole_amount),
        "usd": Field({"type": "number", "exclusiveMinimum": 0}, _amount),
    }
)


def _budget(name: str, value: Any) -> Json:
    limits = nested(_BUDGET)(name, value)
    return {name: limit for name, limit in limits.items() if limit is not None}


def _described(description: str) -> Json:
    return {"type": "string", "description": description}


ORDER: dict[str, Field] = {
    "prompt": Field(_described("The task: aim, addresses, values, what to report."), filled_text),
    "title": Field(_described("A short name for people."), any_text, ""),
    "model": Field(_described("The model to use; leave out for the usual one."), optional_word),
    "effort": Field(
        _described(
            "How much the model thinks: minimal, low, medium, high, xhigh or max, as far as its "
            "provider knows it; leave out for the usual one."
        ),
        optional_word,
    ),
    "desktop": Field(
        _described("own (default), shared with this chat, or a desktop's id."), optional_word, "own"
    ),
    "egress": Field(
        {
            "enum": list(MODES),
            "description": "What its own desktop may reach over the network, at most what yours "
            "may: open; internet without this machine and private networks; list, the names in "
            "allow; none.",
        },
        one_of(*MODES),
    ),
    "allow": Field(
        {
            "type": "array",
            "items": _TEXT,
            "description": "Names for egress list, such as docs.example.com or *.example.org.",
        },
        each(any_text),
        (),
    ),
    "without_execute": Field(
        {
            "type": "boolean",
            "description": "True: it cannot run programs, and may type secrets that are only for "
            "such agents.",
        },
        spoken_flag,
        False,
    ),
    "approval": Field(
        {
            "enum": list(APPROVAL_MODES),
            "description": "What a person must approve: auto nothing, risky what is risky, every "
            "each action; at least what holds for you.",
        },
        anything,
    ),
    "domains": Field(
        {
            "type": "array",
            "items": _TEXT,
            "description": "Domains of the task, such as example.com; others need an approval.",
        },
        lambda name, value: list(each(any_text)(name, value)),
    ),
    "look_only": Field(
        {
            "type": "boolean",
            "description": "True: it looks and reads, gives no input, and reports a plan.",
        },
        anything,
    ),
    "workdir": Field(
        _described(
            "Directory for its commands and relative paths, below yours, which is the default; you "
            "share its files."
        ),
        anything,
    ),
    "template": Field(
        _described("Template of its own desktop, see list_desktop_templates."), anything
    ),
    "profile": Field(
        _described(
            "Name of a browser profile that its own desktop keeps for later ones, with sign-ins; "
            "one desktop at a time has it."
        ),
        anything,
    ),
    "files": Field(
        {
            "type": "array",
            "maxItems": MOST_FILES,
            "items": {},
            "description": "Files that are in its directory before its first step: ids of attached "
            "files, or objects with path and content or file_id.",
        },
        anything,
    ),
    "timeout_seconds": Field(
        {
            "type": "number",
            "minimum": 1,
            "maximum": LONGEST_TIMEOUT,
            "description": "Seconds after which its turn is stopped, waiting for people included.",
        },
        anything,
    ),
    "record": Field(
        {
            "type": "boolean",
            "description": "False: its desktop is not recorded while it works.",
        },
        anything,
    ),
    "budget": Field(
        {
            "type": "object",
            "description": "Where its turn ends at the latest.",
            **_BUDGET.schema,
            "additionalProperties": False,
        },
        _budget,
        {},
    ),
}
