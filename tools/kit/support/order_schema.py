"""Schema of the arguments with which an agent starts another one. Pure."""

from deskhand.desktop.network.egress import MODES
from deskhand.tools.conversation.chat_start import LONGEST_TIMEOUT, MOST_FILES
from deskhand.tools.conversation.restrictions import MODES as APPROVAL_MODES

from .spec import Json

_TEXT: Json = {"type": "string"}
ORDER: Json = {
    "prompt": {**_TEXT, "description": "The task: aim, addresses, values, what to report."},
    "title": {**_TEXT, "description": "A short name for people."},
    "model": {**_TEXT, "description": "The model to use; leave out for the usual one."},
    "effort": {
        **_TEXT,
        "description": "How much the model thinks: minimal, low, medium, high, xhigh or max, as "
        "far as its provider knows it; leave out for the usual one.",
    },
    "desktop": {
        **_TEXT,
        "description": "own (default), shared with this chat, or a desktop's id.",
    },
    "egress": {
        "enum": list(MODES),
        "description": "What its own desktop may reach over the network, at most what yours may: "
        "open; internet without this machine and private networks; list, the names in allow; none.",
    },
    "allow": {
        "type": "array",
        "items": _TEXT,
        "description": "Names for egress list, such as docs.example.com or *.example.org.",
    },
    "without_execute": {
        "type": "boolean",
        "description": "True: it cannot run programs, and may type secrets that are only for such "
        "agents.",
    },
    "approval": {
        "enum": list(APPROVAL_MODES),
        "description": "What a person must approve: auto nothing, risky what is risky, every each "
        "action; at least what holds for you.",
    },
    "domains": {
        "type": "array",
        "items": _TEXT,
        "description": "Domains of the task, such as example.com; others need an approval.",
    },
    "look_only": {
        "type": "boolean",
        "description": "True: it looks and reads, gives no input, and reports a plan.",
    },
    "workdir": {
        **_TEXT,
        "description": "Directory for its commands and relative paths, below yours, which is "
        "the default; you share its files.",
    },
    "template": {
        **_TEXT,
        "description": "Template of its own desktop, see list_desktop_templates.",
    },
    "profile": {
        **_TEXT,
        "description": "Name of a browser profile that its own desktop keeps for later ones, with "
        "sign-ins; one desktop at a time has it.",
    },
    "files": {
        "type": "array",
        "maxItems": MOST_FILES,
        "items": {},
        "description": "Files that are in its directory before its first step: ids of attached "
        "files, or objects with path and content or file_id.",
    },
    "timeout_seconds": {
        "type": "number",
        "minimum": 1,
        "maximum": LONGEST_TIMEOUT,
        "description": "Seconds after which its turn is stopped, waiting for people included.",
    },
    "record": {
        "type": "boolean",
        "description": "False: its desktop is not recorded while it works.",
    },
    "budget": {
        "type": "object",
        "description": "Where its turn ends at the latest.",
        "properties": {
            "steps": {"type": "integer", "minimum": 1},
            "minutes": {"type": "number", "exclusiveMinimum": 0},
            "tokens": {"type": "integer", "minimum": 1},
            "usd": {"type": "number", "exclusiveMinimum": 0},
        },
        "additionalProperties": False,
    },
}
