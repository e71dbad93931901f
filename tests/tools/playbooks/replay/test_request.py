from dataclasses import replace

import pytest

from deskhand.tools.conversation.conversation import Image, Message, Text
from deskhand.tools.playbooks.errors import BadParameters
from deskhand.tools.playbooks.playbook import Parameter, Playbook, PlaybookStep, Target
from deskhand.tools.playbooks.replay.request import (
    ReplayRequest,
    checked_values,
    outline,
    read_request,
    request_text,
)

PLAYBOOK = Playbook(
    "order",
    (PlaybookStep("click", target=Target("button", "Save")),),
    parameters={"customer": Parameter("Ada"), "town": Parameter()},
)


def _message(text: str) -> Message:
    return Message("user", (Image("f", "image/png", 1, 1), Text(text)))


def test_a_request_is_read_from_the_first_message() -> None:
    text = request_text(PLAYBOOK, {"town": "Åbo {x}"})
    assert text.startswith("Replay the playbook order.\n")
    messages = [_message(text), _message('{"set": {"town": "Oslo"}}')]
    assert read_request(messages) == ReplayRequest({"town": "Åbo {x}"}, outline(PLAYBOOK))


@pytest.mark.parametrize("messages", [[], [_message("Replay it.")]])
def test_without_values_a_request_is_empty(messages: list[Message]) -> None:
    assert read_request(messages) == ReplayRequest()


@pytest.mark.parametrize("text", ["{", '{"set": 3}', '{"set": {"town": 3}}'])
def test_values_that_are_no_texts_are_refused(text: str) -> None:
    with pytest.raises(BadParameters, match="the values of the replay"):
        read_request([_message(text)])


def test_parameters_have_their_values_or_defaults() -> None:
    assert checked_values(PLAYBOOK, {"town": ""}) == {"customer": "Ada", "town": ""}


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({}, "order needs a value for town: --set town=…"),
        ({"twon": "Oslo"}, "order has no parameter 'twon'; did you mean 'town'?"),
    ],
)
def test_unknown_and_missing_parameters_are_errors(values: dict[str, str], error: str) -> None:
    with pytest.raises(BadParameters) as raised:
        checked_values(PLAYBOOK, values)
    assert str(raised.value) == error


def test_a_playbook_without_parameters_takes_no_value() -> None:
    with pytest.raises(BadParameters, match="it has none"):
        checked_values(replace(PLAYBOOK, parameters={}), {"town": "Oslo"})


def test_healing_leaves_the_outline_and_editing_changes_it() -> None:
    healed = (PlaybookStep("click", target=Target("button", "Store")),)
    edited = (PlaybookStep("double_click", target=Target("button", "Save")),)
    assert outline(replace(PLAYBOOK, steps=healed)) == outline(PLAYBOOK)
    assert outline(replace(PLAYBOOK, steps=edited)) != outline(PLAYBOOK)
