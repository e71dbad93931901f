import asyncio
from typing import Any

import pytest

from deskhand.desktop.actions.requests import action_request, batch_request
from deskhand.desktop.computer.computer import Computer
from deskhand.desktop.computer.outcomes import Outcome
from deskhand.desktop.computer.typing_policy import NoPasswordFields, TypingPolicy
from deskhand.desktop.errors import ActionFailed, ForeignHost
from deskhand.desktop.tool_calls.caller import Caller
from tests.desktop.fakes import NATIVE, FakeClock, FakeFields, FakeInput, FakePictures, FakeScreen

CALLER = Caller("call", "chat")


async def acted(input_device: FakeInput, fields: FakeFields | None, **wanted: Any) -> Any:
    clock = FakeClock()
    discretion = None if fields is None else TypingPolicy(fields)
    computer = Computer(
        FakeScreen(clock),
        input_device,
        FakePictures(),
        lambda _: None,
        instance_id="instance",
        typing_policy=discretion,
        clock=clock,
        sleep=clock.sleep,
    )
    async with computer:
        if "actions" in wanted:
            return await computer.batch(batch_request(wanted, NATIVE), CALLER)
        return await computer.act(action_request(wanted, NATIVE), CALLER)


def act(input_device: FakeInput, fields: FakeFields | None, **wanted: Any) -> Any:
    return asyncio.run(acted(input_device, fields, **wanted))


@pytest.mark.parametrize("observe", [None, {"screenshot": False}])
def test_a_response_has_the_redacted_text_of_a_password(observe: Any) -> None:
    fields = FakeFields(password=True)
    outcome = act(FakeInput(), fields, action="type", text="hunter2", observe=observe)
    assert outcome.redacted_text == "7 characters"
    assert fields.asked_since == [1000.0]


def test_a_response_has_no_redacted_text_of_other_texts_and_actions() -> None:
    assert act(FakeInput(), FakeFields(), action="type", text="hi").redacted_text is None
    assert act(FakeInput(), None, action="type", text="hi").redacted_text is None
    hidden = FakeFields(password=True)
    assert act(FakeInput(), hidden, action="type", text="").redacted_text is None
    click = {"action": "left_click", "coordinate": [1, 1], "text": "ctrl"}
    assert act(FakeInput(), hidden, **click).redacted_text is None


def test_each_action_of_a_batch_has_its_redacted_text() -> None:
    keys = [{"action": "type", "text": "pw"}, {"action": "key", "text": "Return"}]
    outcome = act(FakeInput(), FakeFields(password=True), actions=keys)
    assert [one.redacted_text for one in outcome.results] == ["2 characters", "Return"]


def test_a_text_for_some_hosts_goes_nowhere_else() -> None:
    wanted = {"action": "type", "text": "hunter2", "hosts": ["mail.example"]}
    input_device = FakeInput()
    assert isinstance(act(input_device, FakeFields(host="mail.example"), **wanted), Outcome)
    assert input_device.done
    for fields, message in (
        (FakeFields(host="evil.test"), "mail.example only, and evil.test has the keyboard"),
        (None, "mail.example only, and no page is known to have the keyboard"),
    ):
        untouched = FakeInput()
        with pytest.raises(ForeignHost, match=message) as refused:
            act(untouched, fields, **wanted)
        assert (refused.value.status, refused.value.code) == (409, "foreign_host")
        assert untouched.done == []


def test_a_batch_ends_at_a_text_that_is_not_for_this_page() -> None:
    actions = [{"action": "type", "text": "pw", "hosts": ["mail.example"]}, {"action": "wait"}]
    outcome = act(FakeInput(), FakeFields(), actions=actions)
    assert isinstance(outcome.results[0], ActionFailed)
    assert outcome.skipped == 1


def test_without_accessibility_no_field_is_a_password_and_no_host_is_known() -> None:
    assert not NoPasswordFields().password_since(0.0)
    with pytest.raises(ForeignHost):
        NoPasswordFields().check_host(["mail.example"])
