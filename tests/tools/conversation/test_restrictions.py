from typing import Any

import pytest

from deskhand.tools.conversation.errors import BadChatRequest
from deskhand.tools.conversation.restrictions import (
    ChatRestrictions,
    default_approval,
    read_restrictions,
    stricter,
)


def test_the_mode_follows_from_the_setting_and_the_model() -> None:
    assert default_approval("", scripted=True) == "auto"
    assert default_approval("", scripted=False) == "risky"
    assert default_approval("every", scripted=True) == "every"
    assert stricter("auto", "every") == "every"
    assert stricter("risky", "auto") == "risky"


def test_restrictions_are_read() -> None:
    given = {"approval": "every", "domains": [" Example.COM. "], "look_only": True}
    assert read_restrictions(given) == ChatRestrictions("every", ("example.com",), True)
    assert read_restrictions({}) == ChatRestrictions()
    assert read_restrictions({"approval": "", "domains": None}) == ChatRestrictions()


@pytest.mark.parametrize(
    "given",
    [
        {"approval": "never"},
        {"domains": "example.com"},
        {"domains": ["http://example.com"]},
        {"domains": [""]},
        {"domains": ["a"] * 101},
        {"look_only": 1},
        {"look_only": "yes"},
    ],
)
def test_wrong_restrictions_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(BadChatRequest):
        read_restrictions(given)


def test_a_child_has_at_least_the_restrictions_of_its_parent() -> None:
    parent = ChatRestrictions("risky", ("example.com",), look_only=True)
    assert parent.of_child(ChatRestrictions("auto")) == parent
    assert parent.of_child(ChatRestrictions("every", ("a.example.com",))) == ChatRestrictions(
        "every", ("a.example.com",), look_only=True
    )
    with pytest.raises(BadChatRequest, match=r"other\.example"):
        parent.of_child(ChatRestrictions(domains=("other.example",)))
    free = ChatRestrictions()
    assert free.of_child(ChatRestrictions("auto", ("a.example",))) == ChatRestrictions(
        "auto", ("a.example",)
    )
