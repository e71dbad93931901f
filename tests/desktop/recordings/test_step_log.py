import asyncio

import pytest

from deskhand.desktop.recordings.step_log import StepLog
from deskhand.desktop.secrets.redaction import MASK, SecretRedactor
from deskhand.recording.step import Step
from tests.desktop.fakes import FakeFields
from tests.desktop.recordings.test_steps import acted


def written(fields: FakeFields, action: str, text: str | None) -> list[Step]:
    async def scenario() -> list[Step]:
        steps: list[Step] = []
        async with StepLog(steps.append, fields, doubt=0.0) as notebook:
            notebook.write(acted(action=action, text=text))
            await notebook.written()
            assert len(steps) == 1
        return steps

    return asyncio.run(scenario())


def test_what_went_into_a_password_field_is_noted_as_a_count() -> None:
    (step,) = written(FakeFields(password=True), "type", "hunter2")
    assert (step.action, step.text) == ("type", "7 characters")
    (step,) = written(FakeFields(password=True), "key", "Return")
    assert step.text == "Return"


def test_of_a_known_secret_not_even_the_length_is_noted() -> None:
    async def scenario() -> None:
        steps: list[Step] = []
        mask = SecretRedactor()
        mask.add(["hunter2"])
        async with StepLog(steps.append, FakeFields(password=True), mask, 0.0) as notebook:
            notebook.write(acted(action="type", text="hunter2"))
        # The recorder masks it, as every text.
        assert [mask(step.text) for step in steps] == [MASK]

    asyncio.run(scenario())


def test_what_went_elsewhere_is_noted_as_it_is() -> None:
    fields = FakeFields()
    (step,) = written(fields, "type", "hello")
    assert (step.text, fields.asked_since) == ("hello", [1.0])


@pytest.mark.parametrize(
    ("heard", "action", "text"),
    [
        (False, "type", "hello"),
        (True, "left_click", "ctrl"),
        (True, "type", ""),
        (True, "wait", None),
    ],
)
def test_nobody_waits_for_what_cannot_be_known_or_hides_nothing(
    heard: bool, action: str, text: str | None
) -> None:
    fields = FakeFields(heard=heard, password=True)
    (step,) = written(fields, action, text)
    assert (step.text, fields.asked_since) == (text or "", [])


def test_an_action_is_noted_after_a_moment_at_the_latest_when_the_book_is_closed() -> None:
    async def scenario() -> None:
        steps: list[Step] = []
        async with StepLog(steps.append, FakeFields(), doubt=0.01) as notebook:
            notebook.write(acted(action="type", text="first"))
            notebook.write(acted(action="left_click"))
            assert [step.action for step in steps] == ["left_click"]
        assert [step.action for step in steps] == ["left_click", "type"]

    asyncio.run(scenario())
