import asyncio

import pytest

from deskhand.desktop.recordings.step_log import StepLog
from deskhand.desktop.secrets.redaction import MASK, SecretRedactor
from deskhand.recording.step import Step
from tests.desktop.fakes import FakeFields
from tests.desktop.recordings.test_steps import record


def written(fields: FakeFields, action: str, text: str | None) -> list[Step]:
    async def scenario() -> list[Step]:
        steps: list[Step] = []
        async with StepLog(steps.append, fields, delay=0.0) as log:
            log.write(record(action=action, text=text))
            await log.written()
            assert len(steps) == 1
        return steps

    return asyncio.run(scenario())


def test_text_for_a_password_field_is_written_as_a_count() -> None:
    (step,) = written(FakeFields(password=True), "type", "hunter2")
    assert (step.action, step.text) == ("type", "7 characters")
    (step,) = written(FakeFields(password=True), "key", "Return")
    assert step.text == "Return"


def test_a_known_secret_hides_its_length_too() -> None:
    async def scenario() -> None:
        steps: list[Step] = []
        mask = SecretRedactor()
        mask.add(["hunter2"])
        async with StepLog(steps.append, FakeFields(password=True), mask, 0.0) as log:
            log.write(record(action="type", text="hunter2"))
        # The recorder masks the text, as it does every text.
        assert [mask(step.text) for step in steps] == [MASK]

    asyncio.run(scenario())


def test_other_text_is_written_unchanged() -> None:
    fields = FakeFields()
    (step,) = written(fields, "type", "hello")
    assert (step.text, fields.asked_since) == ("hello", [1.0])


@pytest.mark.parametrize(
    ("accessible", "action", "text"),
    [
        (False, "type", "hello"),
        (True, "left_click", "ctrl"),
        (True, "type", ""),
        (True, "wait", None),
    ],
)
def test_actions_without_reports_or_text_are_written_at_once(
    accessible: bool, action: str, text: str | None
) -> None:
    fields = FakeFields(accessible=accessible, password=True)
    (step,) = written(fields, action, text)
    assert (step.text, fields.asked_since) == (text or "", [])


def test_closing_the_log_waits_for_pending_actions() -> None:
    async def scenario() -> None:
        steps: list[Step] = []
        async with StepLog(steps.append, FakeFields(), delay=0.01) as log:
            log.write(record(action="type", text="first"))
            log.write(record(action="left_click"))
            assert [step.action for step in steps] == ["left_click"]
        assert [step.action for step in steps] == ["left_click", "type"]

    asyncio.run(scenario())
