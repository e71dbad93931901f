import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from deskhand.desktop.actions.catalog import Action, Type
from deskhand.desktop.actions.requests import action_request, batch_request
from deskhand.desktop.computer.computer import Computer
from deskhand.desktop.computer.observer import NoFocusSource
from deskhand.desktop.computer.outcomes import NOWHERE, Outcome, outcome_json
from deskhand.desktop.computer.typing_policy import (
    KEYBOARD_SECONDS,
    NoPageEntry,
    NoPasswordFields,
    PageField,
    TypingPolicy,
    sizes,
)
from deskhand.desktop.errors import (
    ActionFailed,
    FocusMoved,
    ForeignHost,
    HumanInControl,
    KeyboardGrabbed,
    UnfitField,
    UntypableText,
)
from deskhand.desktop.input.events import Tap
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
    outcome = act(input_device, FakeFields(host="mail.example", password=True), **wanted)
    assert isinstance(outcome, Outcome)
    assert outcome.typed_into == "mail.example"
    assert outcome_json(outcome, "instance")["typed_into"] == "mail.example"
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
        NoPasswordFields().admit(["mail.example"])
    field = NoPasswordFields().admit([])
    assert NoPasswordFields().state(field).has_focus
    assert not NoPasswordFields().fill(field, "text")


VALUE = "correct horse battery staple"
PROTECTED = {"action": "type", "text": VALUE, "protected": True}


def typed(input_device: FakeInput) -> int:
    """Return how many keys were struck."""
    return sum(isinstance(event, Tap) for event in input_device.done)


def test_a_field_that_can_be_filled_gets_a_protected_text_without_keystrokes() -> None:
    input_device, fields = FakeInput(), FakeFields(fillable=True)
    act(input_device, fields, **PROTECTED)
    assert fields.filled == [VALUE]
    assert input_device.done == []


def test_a_line_break_in_a_protected_text_is_the_key_return() -> None:
    input_device, fields = FakeInput(), FakeFields(fillable=True)
    act(input_device, fields, **{**PROTECTED, "text": "pin\n"})
    assert fields.filled == []
    assert typed(input_device) == 4


def test_a_protected_text_is_typed_with_checks_of_the_field() -> None:
    input_device, fields = FakeInput(), FakeFields()
    act(input_device, fields, **PROTECTED)
    assert typed(input_device) == len(VALUE)
    assert fields.checked == len(sizes(len(VALUE)))


@pytest.mark.parametrize(("moved_at", "got"), [(1, 0), (2, 1), (3, 8), (4, 15)])
def test_the_rest_of_a_protected_text_is_withheld_when_the_focus_moves(
    moved_at: int, got: int
) -> None:
    input_device = FakeInput()
    with pytest.raises(FocusMoved, match="rest of the text was withheld") as refused:
        act(input_device, FakeFields(moved_at=moved_at), **PROTECTED)
    assert (refused.value.message, refused.value.code) == ("focus moved", "focus_moved")
    assert typed(input_device) == got


def test_an_error_of_the_keyboard_does_not_name_characters_of_a_protected_text() -> None:
    input_device = FakeInput(refuse=lambda _: UntypableText("c"))
    with pytest.raises(ActionFailed) as failed:
        act(input_device, FakeFields(), **PROTECTED)
    assert "'c'" not in str(failed.value)
    assert "a character of the text" in str(failed.value)


def test_the_rest_is_withheld_when_another_window_gets_the_keyboard() -> None:
    windows = iter([1, 1, 1, 2])
    policy = TypingPolicy(FakeFields(), window=lambda: next(windows))
    sent: list[Type] = []

    async def send(action: Action) -> None:
        assert isinstance(action, Type)
        sent.append(action)

    action = action_request(PROTECTED, NATIVE).action
    with pytest.raises(FocusMoved):
        asyncio.run(policy.perform(action, send))
    assert [len(one.keysyms) for one in sent] == [1, 7]


class FakeProcesses:
    """The processes of an agent, and whether they are stopped."""

    def __init__(self, passing: Sequence[bool] = ()) -> None:
        self.are_stopped = False
        self.times = 0
        self.waits: list[float] = []
        self._passing = iter(passing)

    def may_type(self, wait: float = 0.0) -> bool:
        self.waits.append(wait)
        return next(self._passing, True)

    def hold(self) -> None:
        self.are_stopped, self.times = True, self.times + 1

    def release(self) -> None:
        self.are_stopped = False


def test_the_agents_processes_are_stopped_while_a_protected_text_is_typed() -> None:
    processes = FakeProcesses()
    states: list[bool] = []

    async def send(_: Action) -> None:
        states.append(processes.are_stopped)

    async def scenario() -> None:
        policy = TypingPolicy(FakeFields(), processes)
        await policy.perform(action_request(PROTECTED, NATIVE).action, send)
        await policy.perform(action_request({"action": "wait"}, NATIVE).action, send)

    asyncio.run(scenario())
    assert states == [*[True] * len(sizes(len(VALUE))), False]
    assert (processes.are_stopped, processes.times) == (False, 1)


@pytest.mark.parametrize("passing", [[False], [True, False]])
def test_a_protected_text_is_withheld_while_another_program_gets_the_keys(
    passing: list[bool],
) -> None:
    processes, typed = FakeProcesses(passing), []

    async def send(action: Action) -> None:
        typed.append(action)

    policy = TypingPolicy(FakeFields(), processes)
    with pytest.raises(KeyboardGrabbed):
        asyncio.run(policy.perform(action_request(PROTECTED, NATIVE).action, send))
    assert len(typed) == len(passing) - 1
    # A menu may close meanwhile.
    assert set(processes.waits) == {KEYBOARD_SECONDS}
    assert not processes.are_stopped


@pytest.mark.parametrize(
    "body",
    [
        {"action": "type", "text": "a"},
        {"action": "key", "text": "a"},
        {"action": "key_down", "text": "a"},
        {"action": "hold_key", "text": "a", "duration": 0.1},
    ],
)
def test_keys_of_a_person_are_refused_at_once_and_other_input_is_not(body: dict[str, Any]) -> None:
    processes, sent = FakeProcesses([False]), []

    async def send(action: Action) -> None:
        sent.append(action)

    policy = TypingPolicy(FakeFields(), processes)
    with pytest.raises(KeyboardGrabbed):
        asyncio.run(policy.perform(action_request(body, NATIVE).action, send))
    assert (sent, processes.waits) == ([], [0.0])
    policy = TypingPolicy(FakeFields(), FakeProcesses([False]))
    move = {"action": "mouse_move", "coordinate": [1, 1]}
    asyncio.run(policy.perform(action_request(move, NATIVE).action, send))
    assert len(sent) == 1


def test_a_cancelled_action_does_not_leave_the_processes_stopped() -> None:
    processes = FakeProcesses()

    async def scenario() -> None:
        begun = asyncio.Event()

        async def send(_: Action) -> None:
            begun.set()
            await asyncio.Event().wait()

        policy = TypingPolicy(FakeFields(), processes)
        typing = asyncio.create_task(policy.perform(action_request(PROTECTED, NATIVE).action, send))
        await begun.wait()
        assert processes.are_stopped
        typing.cancel()
        await asyncio.gather(typing, return_exceptions=True)

    asyncio.run(scenario())
    assert (processes.are_stopped, processes.times) == (False, 1)


@pytest.mark.parametrize(
    ("total", "parts"),
    [(0, []), (1, [1]), (4, [1, 1, 1, 1]), (12, [1, 3, 3, 3, 2]), (40, [1, 8, 8, 8, 8, 7])],
)
def test_a_protected_text_is_checked_after_a_quarter_and_after_8_characters(
    total: int, parts: list[int]
) -> None:
    assert sizes(total) == parts


class FakePages:
    """The pages of a browser, of which one has the keyboard."""

    def __init__(self, found: PageField | None) -> None:
        self.found = found
        self.asked: list[tuple[str | None, Sequence[str], bool]] = []

    async def enter(
        self, text: str | None, hosts: Sequence[str], *, any_field: bool
    ) -> PageField | None:
        self.asked.append((text, hosts, any_field))
        return self.found


BOUND = {"action": "type", "text": VALUE, "hosts": ["mail.example"]}


def performed(policy: TypingPolicy, wanted: dict[str, Any]) -> tuple[str, int]:
    """Return the host that received the text, and how many characters were keys."""
    keys: list[int] = []

    async def send(action: Action) -> None:
        assert isinstance(action, Type)
        keys.extend(action.keysyms)

    host = asyncio.run(policy.perform(action_request(wanted, NATIVE).action, send))
    return host, len(keys)


def test_a_page_of_the_browser_gets_a_text_without_keys() -> None:
    pages = FakePages(PageField("www.mail.example", entered=True))
    policy = TypingPolicy(FakeFields(host="mail.example"), pages=pages)
    assert performed(policy, BOUND) == ("mail.example", 0)
    assert performed(policy, {**BOUND, "any_field": True}) == ("mail.example", 0)
    # A text for any application is for any field of the page that has the keyboard now.
    assert performed(policy, PROTECTED) == ("mail.example", 0)
    assert pages.asked == [
        (VALUE, ("mail.example",), False),
        (VALUE, ("mail.example",), True),
        (VALUE, ("mail.example",), True),
    ]


def test_a_text_goes_by_keys_where_the_field_of_a_page_takes_keys_only() -> None:
    pages = FakePages(PageField("mail.example", entered=False))
    policy = TypingPolicy(FakeFields(host="mail.example"), pages=pages)
    assert performed(policy, BOUND) == ("mail.example", len(VALUE))
    # A line break is the key Return, so that the field is checked alone.
    assert performed(
        TypingPolicy(FakeFields(host="mail.example"), pages=pages), {**BOUND, "text": "pin\n"}
    ) == ("mail.example", 4)
    assert [text for text, _, _ in pages.asked] == [VALUE, None]


@pytest.mark.parametrize("pages", [FakePages(None), NoPageEntry()])
def test_in_a_browser_without_a_pipe_a_text_for_hosts_goes_into_password_fields(
    pages: FakePages | NoPageEntry,
) -> None:
    with pytest.raises(UnfitField, match="with any_field") as refused:
        performed(TypingPolicy(FakeFields(host="mail.example"), pages=pages), BOUND)
    assert (refused.value.status, refused.value.code) == (409, "unfit_field")
    password = FakeFields(host="mail.example", password=True)
    assert performed(TypingPolicy(password, pages=pages), BOUND)[1] == len(VALUE)
    wanted = {**BOUND, "any_field": True}
    plain = TypingPolicy(FakeFields(host="mail.example"), pages=pages)
    assert performed(plain, wanted)[1] == len(VALUE)
    assert not NoPasswordFields().is_password(NoPasswordFields().admit([]))


def test_a_person_in_control_keeps_a_text_out_of_a_page() -> None:
    def check() -> None:
        raise HumanInControl("Ada")

    async def send(_: Action) -> None:
        raise AssertionError("nothing is sent")

    pages = FakePages(PageField("mail.example", entered=True))
    policy = TypingPolicy(FakeFields(host="mail.example"), pages=pages)
    with pytest.raises(HumanInControl):
        asyncio.run(policy.perform(action_request(BOUND, NATIVE).action, send, check))
    assert pages.asked == []


class FakeFocus(NoFocusSource):
    """No window has the keyboard, which is known or not."""

    def __init__(self, known: bool) -> None:
        self._known = known

    def nothing_focused(self) -> bool:
        return self._known


@pytest.mark.parametrize("nowhere", [False, True])
def test_a_reply_says_that_a_text_went_nowhere(nowhere: bool) -> None:
    async def typed(**wanted: Any) -> Any:
        clock = FakeClock()
        async with Computer(
            FakeScreen(clock),
            FakeInput(),
            FakePictures(),
            lambda _: None,
            instance_id="instance",
            windows=FakeFocus(nowhere),
            clock=clock,
            sleep=clock.sleep,
        ) as computer:
            outcome = await computer.act(action_request(wanted, NATIVE), CALLER)
            return outcome_json(outcome, "instance")

    reply = asyncio.run(typed(action="type", text="a"))
    assert reply.get("nothing_focused", False) is nowhere
    assert reply["output"] == (NOWHERE if nowhere else "type action performed")
    # Keys have uses without a window.
    key = asyncio.run(typed(action="key", text="Escape"))
    assert "nothing_focused" not in key
