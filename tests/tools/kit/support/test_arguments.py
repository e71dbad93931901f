import asyncio
from typing import Any

import pytest

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import Field, Fields, any_text, word
from deskhand.tools.kit.support.arguments import (
    INTENT,
    CheckedTool,
    read_arguments,
    unusable,
)
from deskhand.tools.kit.support.spec import Json, ToolContext, ToolOutcome, ToolSpec
from tests.tools.kit.machine import FakeMachine

FIELDS = Fields({"name": Field({"type": "string"}, word)}, ("name",))
SPEC = ToolSpec.of("greet", "Greets.", FIELDS)


class Greet(CheckedTool):
    @property
    def spec(self) -> ToolSpec:
        return SPEC

    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        if given["name"] == "nobody":
            raise unusable("name", "name must be of somebody")
        return ToolOutcome({"text": f"Hi {given['name']}"})


def greeted(arguments: Any) -> ToolOutcome:
    return asyncio.run(Greet().call(arguments, FakeMachine().context()))


def test_a_tool_gets_its_arguments_as_they_were_read() -> None:
    assert greeted({"name": " Ann "}).value == {"text": "Hi Ann"}
    assert greeted({"name": "Ann", INTENT: "to be kind"}).value == {"text": "Hi Ann"}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "name is required"),
        ({"nam": "Ann"}, "unknown argument nam: did you mean name?"),
        ({"name": "nobody"}, "name must be of somebody"),
        ([], "the input must be an object, not a JSON array or a value"),
    ],
)
def test_what_is_wrong_is_the_error_of_the_call(arguments: Any, error: str) -> None:
    assert greeted(arguments) == ToolOutcome(error=error)


def test_an_intent_that_the_tool_lists_is_read() -> None:
    spec = ToolSpec.of("a", "", Fields({INTENT: Field({"type": "string"}, any_text)}))
    assert read_arguments(spec, {INTENT: "x"}) == {INTENT: "x"}


def test_arguments_that_another_service_reads_stay_as_they_are() -> None:
    assert read_arguments(ToolSpec("a", "", {"type": "object"}), {"b": None}) == {"b": None}


def test_an_error_has_a_sentence_for_http_too() -> None:
    error = unusable("name", "name must be of somebody")
    assert isinstance(error, BadField)
    assert str(error) == "name must be of somebody."
