import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import replace

from deskhand.tools.conversation.conversation import Image
from deskhand.tools.kit.support.spec import Json, MachineRefused, MachineUnavailable, ToolOutcome
from deskhand.tools.kit.wait_for import WaitForTool
from tests.tools.kit.machine import FakeMachine

PATH = "/wait-for"
MET = {
    "met": True,
    "unmet": [],
    "waited_ms": 12.5,
    "seen": {"windows": ["Ready"]},
    "screenshot_data": base64.b64encode(b"PNG").decode(),
    "screenshot_media_type": "image/png",
    "screenshot_width": 1280,
    "screenshot_height": 720,
}
PRIVATE = MachineRefused(409, "Ann is in control.", code="human_in_control")


class Pictures:
    def __init__(self, chat_id: str) -> None:
        self.chat_id = chat_id

    async def save(self, data: bytes, media_type: str, width: int, height: int) -> Image:
        assert data == b"PNG"
        return Image(f"picture of {self.chat_id}", media_type, width, height)


async def ended() -> str:
    return "Ann was in control"


def call(
    machine: FakeMachine, arguments: Json, after: Callable[[], Awaitable[str]] | None = None
) -> ToolOutcome:
    context = machine.context()
    if after is not None:
        context = replace(context, after_person=after)
    return asyncio.run(WaitForTool(Pictures).call(arguments, context))


def test_what_was_met_is_returned_with_the_screenshot_of_that_moment() -> None:
    machine = FakeMachine()
    machine.answer(PATH, MET)
    outcome = call(machine, {"window": "ready", "text": None})
    assert outcome.value == {"met": True, "waited_ms": 12.5, "seen": {"windows": ["Ready"]}}
    (picture,) = outcome.pictures
    assert (picture.width, picture.height) == (1280, 720)
    assert machine.asked[0].json == {"window": "ready", "timeout_seconds": 30}


def test_after_a_timeout_the_missing_conditions_are_named() -> None:
    machine = FakeMachine()
    machine.answer(PATH, {"met": False, "unmet": ["text"], "waited_ms": 5000, "seen": {}})
    outcome = call(machine, {"text": "done", "timeout_seconds": "5"})
    assert outcome.value["unmet"] == ["text"]
    assert outcome.pictures == ()
    assert machine.asked[0].json["timeout_seconds"] == 5


def test_arguments_that_are_wrong_are_refused_before_the_wait() -> None:
    machine = FakeMachine()
    for arguments, problem in (
        ({}, "give one of: text"),
        ({"titel": "x"}, "unknown argument titel"),
        ({"text": "x", "timeout_seconds": 301}, "at most 300"),
        ({"text": "x", "timeout_seconds": -1}, "timeout_seconds"),
    ):
        assert problem in str(call(machine, arguments).error)
    assert machine.asked == []


def test_the_wait_begins_again_after_private_control() -> None:
    machine = FakeMachine()
    machine.answer(PATH, PRIVATE, MET)
    assert call(machine, {"url": "inbox"}, ended).value["met"]
    assert len(machine.asked) == 2


def test_a_caller_outside_of_a_conversation_gets_the_refusal() -> None:
    machine = FakeMachine()
    machine.answer(PATH, PRIVATE)
    assert "Ann is in control" in str(call(machine, {"url": "inbox"}).error)


def test_a_machine_that_does_not_answer_and_an_answer_of_another_form_are_errors() -> None:
    machine = FakeMachine()
    machine.answer(PATH, MachineUnavailable("gone"))
    assert call(machine, {"text": "x"}).error == "gone"
    machine.answer(PATH, b"")
    assert "not JSON" in str(call(machine, {"text": "x"}).error)


def test_the_spec_names_the_tool() -> None:
    assert WaitForTool(Pictures).spec.name == "wait_for"
