import asyncio
from dataclasses import dataclass, field

import pytest

from deskhand.tools.kit.people import AttachFileTool, RequestHumanTool
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome
from tests.tools.kit.machine import FakeMachine

CONTEXT = FakeMachine().context()


@dataclass
class FakeAttachments:
    taken: list[tuple[str, str]] = field(default_factory=list)

    async def attach(self, chat_id: str, path: str) -> Json:
        self.taken.append((chat_id, path))
        return {"file_id": "f1", "name": "report.pdf", "size": 3}


@dataclass
class FakeQuestions:
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def ask_person(self, context: ToolContext, text: str) -> str:
        self.asked.append((context.chat_id, text))
        return "the second one"


def attach(arguments: Json, attachments: FakeAttachments) -> ToolOutcome:
    return asyncio.run(AttachFileTool(attachments).call(arguments, CONTEXT))


def request(arguments: Json, questions: FakeQuestions) -> ToolOutcome:
    return asyncio.run(RequestHumanTool(questions).call(arguments, CONTEXT))


def test_a_file_is_attached_to_the_chat_that_calls() -> None:
    attachments = FakeAttachments()
    outcome = attach({"path": " /home/desk/report.pdf\n"}, attachments)
    assert outcome == ToolOutcome({"file_id": "f1", "name": "report.pdf", "size": 3})
    assert attachments.taken == [(CONTEXT.chat_id, "/home/desk/report.pdf")]


def test_the_result_of_a_question_is_the_persons_answer() -> None:
    questions = FakeQuestions()
    assert request({"reason": "Which one?"}, questions) == ToolOutcome({"answer": "the second one"})
    assert questions.asked == [(CONTEXT.chat_id, "Which one?")]


@pytest.mark.parametrize("arguments", [{}, {"path": " "}, {"path": 7}])
def test_without_a_path_nothing_is_attached(arguments: Json) -> None:
    attachments = FakeAttachments()
    error = attach(arguments, attachments).error
    assert error
    assert error.startswith("path ")
    assert attachments.taken == []


@pytest.mark.parametrize("arguments", [{}, {"reason": ""}, {"reason": 7}])
def test_without_a_reason_no_question_is_asked(arguments: Json) -> None:
    questions = FakeQuestions()
    error = request(arguments, questions).error
    assert error
    assert error.startswith("reason ")
    assert questions.asked == []


def test_each_spec_requires_the_argument_that_the_tool_reads() -> None:
    file, human = AttachFileTool(FakeAttachments()).spec, RequestHumanTool(FakeQuestions()).spec
    assert (file.name, file.schema["required"]) == ("attach_file", ["path"])
    assert (human.name, human.schema["required"]) == ("request_human", ["reason"])
