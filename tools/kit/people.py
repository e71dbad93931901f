"""The tools that address people: attach a file for them, ask them a question."""

from typing import Protocol

from deskhand.desktop.fields import Field, Fields, word
from deskhand.tools.kit.support.arguments import CheckedTool
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from deskhand.tools.kit.support.workdir_path import absolute_path


class Attachments(Protocol):
    """Destination of attached files."""

    async def attach(self, chat_id: str, path: str) -> Json:
        """Copy a file of the chat's machine into the store; return its id, name and size."""


class Questions(Protocol):
    """Questions to people."""

    async def ask_person(self, context: ToolContext, text: str) -> str:
        """Ask a person for the call of a context; return the answer."""


class AttachFileTool(CheckedTool):
    """Attaches a file of the machine to the chat."""

    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return ATTACH

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Attach the file."""
        path = await absolute_path(given["path"], context)
        return ToolOutcome(await self._attachments.attach(context.chat_id, path))


class RequestHumanTool(CheckedTool):
    """Asks a person."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    @property
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""
        return REQUEST_HUMAN

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Wait for the answer, without a timeout."""
        answer = await self._questions.ask_person(context, given["reason"])
        return ToolOutcome({"answer": answer})


ATTACH = ToolSpec.of(
    "attach_file",
    "Deliver a file of this machine, as it is now, to the person or agent that gave you the "
    "task: a download, a document, a picture. They see it beside your report and keep it when the "
    "machine is gone.",
    Fields(
        {
            "path": Field(
                {"type": "string", "description": "Absolute, or from the working directory."}, word
            )
        },
        ("path",),
    ),
)
REQUEST_HUMAN = ToolSpec.of(
    "request_human",
    "Ask a person for what only a person can do or decide: to sign in, to solve a captcha, to "
    "choose. The person can use your desktop meanwhile. Returns the answer; look at the screen "
    "again before you go on.",
    Fields(
        {
            "reason": Field(
                {"type": "string", "description": "What you need, in one or two sentences."}, word
            )
        },
        ("reason",),
    ),
)
