from uuid import uuid4

import pytest
from starlette.datastructures import Headers

from deskhand.tools.control_plane.caller import (
    chat_id,
    credential_id,
    is_administrator,
    limited_person,
    principal_name,
    principal_scopes,
    reads_conversation,
    rights_to,
    signed_in_name,
    tool_call_id,
)
from deskhand.tools.control_plane.errors import BadCaller
from deskhand.vncbridge.auth.policy import Principal


def test_without_a_header_no_chat_calls() -> None:
    assert chat_id(Headers()) is None


def test_either_header_names_the_chat_in_its_usual_form() -> None:
    chat = str(uuid4())
    assert chat_id(Headers({"Deskhand-Chat-Id": f" {chat.upper()} "})) == chat
    assert chat_id(Headers({"Coder-Chat-Id": chat.replace("-", "")})) == chat


def test_our_own_header_goes_before_the_alias() -> None:
    first, second = str(uuid4()), str(uuid4())
    assert chat_id(Headers({"Coder-Chat-Id": second, "Deskhand-Chat-Id": first})) == first


@pytest.mark.parametrize("name", ["Deskhand-Chat-Id", "Coder-Chat-Id"])
@pytest.mark.parametrize("value", ["", "x", "1234"])
def test_what_is_no_uuid_is_refused(name: str, value: str) -> None:
    with pytest.raises(BadCaller) as refused:
        chat_id(Headers({name: value}))
    assert str(refused.value) == f"{name} must be a UUID, not {value!r}."


def test_a_call_may_have_a_name() -> None:
    assert tool_call_id(Headers({"Deskhand-Tool-Call-Id": " call_1 "})) == "call_1"
    assert tool_call_id(Headers({"Coder-Tool-Call-Id": "call_2"})) == "call_2"


@pytest.mark.parametrize("value", ["", " ", "é", "a" * 201, "a\tb"])
def test_an_unusable_name_of_a_call_is_none(value: str) -> None:
    assert tool_call_id(Headers({"Deskhand-Tool-Call-Id": value})) is None


def test_name_and_scopes_are_those_of_the_credential_of_the_request() -> None:
    scope = {"state": {"principal": Principal("ci", ("read", "control"))}}
    assert principal_name(scope) == "ci"
    assert principal_scopes(scope) == ("read", "control")


def test_a_credential_is_the_token_that_was_issued_or_the_owner() -> None:
    ci = Principal("owner", ("chat:c1",), token_id="0a1b")
    assert credential_id({"state": {"principal": ci}}) == "0a1b"
    assert credential_id({"state": {"principal": Principal("browser")}}) == "owner"


@pytest.mark.parametrize(
    ("scopes", "rights"),
    [
        (("admin",), "write"),
        (("chat:c0",), "write"),
        (("role:member", "chat:c1"), "write"),
        (("role:member", "run:c1:conversation", "run:c1:stop"), "stop"),
        (("role:watcher", "run:c1:conversation"), "read"),
        (("run:c1:view",), "read"),
    ],
)
def test_rights_to_a_run_follow_from_the_scopes(scopes: tuple[str, ...], rights: str) -> None:
    assert rights_to({"state": {"principal": Principal("x", scopes)}}, "c1") == rights


def test_only_people_sign_in_by_name() -> None:
    ada = Principal("Ada", (), token_id="person:p1")
    ci = Principal("ci", (), token_id="0a1b")
    assert signed_in_name({"state": {"principal": ada}}) == "Ada"
    assert signed_in_name({"state": {"principal": ci}}) == ""


def test_only_people_who_are_no_owners_are_limited() -> None:
    ada = Principal("Ada", ("role:member",), person="p1")
    boss = Principal("Bea", person="p2")
    assert limited_person({"state": {"principal": ada}}) == "p1"
    assert limited_person({"state": {"principal": boss}}) == ""
    assert limited_person({"state": {"principal": Principal("ci", ("chat:c1",))}}) == ""


def test_rights_are_those_that_the_middleware_found() -> None:
    narrow = {"principal": Principal("ci", ("run:c1:view",)), "reads_conversation": False}
    assert not is_administrator({"state": narrow})
    assert not reads_conversation({"state": narrow})
    owner = {"principal": Principal("owner"), "reads_conversation": True}
    assert is_administrator({"state": owner})
    assert reads_conversation({"state": owner})
