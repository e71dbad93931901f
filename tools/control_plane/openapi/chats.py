"""Answers about chats, tools and files."""

from deskhand.tools.agents.costs.step_times import STAGES
from deskhand.tools.conversation.restrictions import MODES
from deskhand.tools.conversation.views import ChatView, FileView, MessageView, StepView, UsageView
from deskhand.tools.conversation.waiting import TEXTS, WaitingFor
from deskhand.vncbridge.openapi.schemas import (
    ANY_OBJECT,
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    Json,
    array,
    described,
    nullable,
    record,
    record_of,
)

_WAITING_FOR = described(
    nullable(
        record_of(
            "WaitingFor",
            WaitingFor,
            kind=described({"type": "string", "examples": list(TEXTS)}, "More kinds may be added."),
            text=described(TEXT, "The reason for people."),
            since=described(NUMBER, "Unix time in seconds."),
        )
    ),
    "Reason for which the turn does not continue now; null while it works, and at rest. "
    "`database`: the control plane cannot write (lock, full disk, I/O error) and continues the "
    "turn when it can. `human_in_control`: a person is in control. `question`: it asked a person, "
    "see `requires_action`.",
)
_QUESTION = described(
    nullable(
        record(
            "Question",
            {
                "id": TEXT,
                "kind": described(TEXT, "`human` takes any text, `approval` a decision."),
                "question": TEXT,
                "picture": described(nullable(TEXT), "File id of the screen at that moment."),
                "call": described(nullable(ANY_OBJECT), "The call to approve."),
                "rules": described(array(TEXT), "Rules that require the approval."),
                "asked_at": NUMBER,
                "deadline": described(nullable(NUMBER), "An approval is refused after it."),
            },
        )
    ),
    "The open question to a person, answered at `POST .../answer`; null if there is none.",
)
_CHAT: Json = {
    "requires_action": _QUESTION,
    "approval": described(
        nullable({"type": "string", "examples": list(MODES)}),
        "What a person must approve; null for the mode of the setting and the model.",
    ),
    "usage": record_of("Usage", UsageView),
    "waiting_for": _WAITING_FOR,
    "recording_file_id": nullable(TEXT),
}
CHAT = record_of("Chat", ChatView, **_CHAT)
CHATS = record("Chats", {"chats": array(CHAT), "next_cursor": nullable(TEXT)})
STEP = record_of("Step", StepView)
FILE = record_of("File", FileView, pinned=FLAG)
_TIMES = described(
    record("StepTimes", dict.fromkeys(STAGES, NUMBER)),
    "Milliseconds of all steps by stage; `own_ms` is the time of the control plane's own code.",
)
WHOLE_CHAT = record_of(
    "WholeChat", ChatView, **_CHAT, steps=array(STEP), times=_TIMES, files=array(FILE)
)
MESSAGES = record(
    "Messages",
    {"messages": array(record_of("Message", MessageView, content=array(ANY_OBJECT), queued=FLAG))},
)
STOPPED = record("Stopped", {"stopped": COUNT})
FILES = record("Files", {"files": array(FILE)})
_TOOL = record("Tool", {"name": TEXT, "description": TEXT, "input_schema": ANY_OBJECT})
TOOLS = record("Tools", {"tools": array(_TOOL)})
TOOL_RESULT = record(
    "ToolResult",
    {"caller_chat_id": TEXT},
    {
        "result": described({}, "What the tool returned; its form depends on the tool."),
        "error": described(TEXT, "Error of a tool that failed."),
        "is_error": FLAG,
    },
)
