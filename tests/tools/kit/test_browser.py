"""The tool of the browser toolset."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import replace

from deskhand.tools.conversation.conversation import Image
from deskhand.tools.kit.browser import BROWSER, BrowserTool
from deskhand.tools.kit.support.spec import Json, MachineRefused, MachineUnavailable, ToolOutcome
from tests.tools.kit.machine import FakeMachine

PATH = "/browser"
STATE = {"tabs": [{"tab_id": "t1", "title": "A", "url": "http://a/", "active": True}]}
READ = {"text": "page", "browser_state": STATE}
PICTURE = {
    **READ,
    "screenshot_data": base64.b64encode(b"PNG").decode(),
    "screenshot_media_type": "image/png",
    "screenshot_width": 1280,
    "screenshot_height": 630,
}
TAKEN = MachineRefused(409, "Ann is in control.", code="human_in_control")


class Pictures:
    def __init__(self, chat_id: str) -> None:
        self.chat_id = chat_id

    async def save(self, data: bytes, media_type: str, width: int, height: int) -> Image:
        assert data == b"PNG"
        return Image(f"picture of {self.chat_id}", media_type, width, height)


async def ended() -> str:
    return "Ann was in control."


def call(
    machine: FakeMachine, arguments: Json, after: Callable[[], Awaitable[str]] | None = None
) -> ToolOutcome:
    context = machine.context()
    if after is not None:
        context = replace(context, after_person=after)
    return asyncio.run(BrowserTool(Pictures).call(arguments, context))


def test_a_call_is_sent_as_it_is_and_answered_with_text_and_state() -> None:
    machine = FakeMachine()
    machine.answer(PATH, READ)
    outcome = call(machine, {"action": "wait", "duration": 2, "model_intent": "to see it"})
    assert outcome.value == READ
    assert machine.asked[0].json == {"action": "wait", "duration": 2}


def test_a_picture_is_stored() -> None:
    machine = FakeMachine()
    machine.answer(PATH, PICTURE)
    outcome = call(machine, {"action": "screenshot"})
    (picture,) = outcome.pictures
    assert (picture.width, picture.height) == (1280, 630)
    assert outcome.value == READ


def test_what_reads_is_read_after_a_person_and_what_acts_is_not_done() -> None:
    machine = FakeMachine()
    machine.answer(PATH, TAKEN, READ)
    assert call(machine, {"action": "read_page"}, ended).value == READ
    machine.answer(PATH, TAKEN, READ)
    clicked = {"action": "left_click", "target": {"type": "ref", "ref": "ref_7"}}
    refused = call(machine, clicked, ended).error
    assert refused is not None
    assert refused.startswith("Not done: Ann was in control.")


def test_refusals_are_errors() -> None:
    machine = FakeMachine()
    machine.answer(PATH, TAKEN)
    assert "Ann is in control" in str(call(machine, {"action": "read_page"}).error)
    machine.answer(PATH, MachineRefused(409, "ref_7 is stale", code="stale_ref"))
    assert call(machine, {"action": "read_page"}, ended).error == "ref_7 is stale"
    machine.answer(PATH, MachineUnavailable("gone"))
    assert call(machine, {"action": "read_page"}).error == "gone"
    machine.answer(PATH, b"")
    assert "not JSON" in str(call(machine, {"action": "read_page"}).error)


def test_the_spec_names_the_tool_and_all_actions() -> None:
    spec = BrowserTool(Pictures).spec
    assert spec.name == BROWSER
    assert len(spec.schema["properties"]["action"]["enum"]) == 31


def test_a_call_of_no_member_does_nothing_and_says_which_there_are() -> None:
    machine = FakeMachine()
    error = call(machine, {"action": "clik"}).error
    assert "There is no browser action 'clik'" in str(error)
    assert machine.asked == []
