"""The tools by which an agent turns to people: a file for them, a question to them."""

from typing import Protocol

from deskhand.tools.kit.support.arguments import BadArguments, text
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec


class Attachments(Protocol):
    """Where handed over files go."""

    async def attach(self, chat_id: str, path: str) -> Json:
        """Take a file of the chat's machine; return its id, name and size."""


class Questions(Protocol):
    """People who answer."""

    async def ask(self, chat_id: str) -> str:
        """Return what a person answers to the question of that chat."""


class AttachFileTool:
    """Hands a file over."""

    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments

    @property
    def spec(self) -> ToolSpec:
        """What a model is told."""
        return ATTACH

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Take the file."""
        try:
            path = text(arguments, "path").strip()
        except BadArguments as error:
            return ToolOutcome(error=str(error))
        return ToolOutcome(await self._attachments.attach(context.chat_id, path))


class RequestHumanTool:
    """Asks a person; the step's arguments carry the question to the pages."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    @property
    def spec(self) -> ToolSpec:
        """What a model is told."""
        return REQUEST_HUMAN

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Wait for the answer, however long it takes."""
        try:
            text(arguments, "reason")
        except BadArguments as error:
            return ToolOutcome(error=str(error))
        return ToolOutcome({"answer": await self._questions.ask(context.chat_id)})


ATTACH = ToolSpec(
    "attach_file",
    "Hand a file of this machine over to whoever gave you the task, as it is now: a download, a "
    "document, a picture. They see it beside your report and keep it when the machine is gone.",
    {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Absolute path."}},
        "required": ["path"],
    },
)
REQUEST_HUMAN = ToolSpec(
    "request_human",
    "Ask a person for what only a person can do or decide: to sign in, to solve a captcha, to "
    "choose. The person can use your desktop meanwhile. Returns the answer; look at the screen "
    "again before you go on.",
    {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "description": "What you need, in one or two sentences."}
        },
        "required": ["reason"],
    },
)
