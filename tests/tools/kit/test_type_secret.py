import asyncio

from deskhand.tools.kit.support.spec import Json, MachineRefused, MachineUnavailable, ToolOutcome
from deskhand.tools.kit.type_secret import TypeSecretTool
from deskhand.tools.store.secrets import Secret, SecretStore
from tests.tools.kit.machine import FakeMachine

HORSE = "correct horse"
CALLER = FakeMachine().context().chat_id


def machine() -> FakeMachine:
    made = FakeMachine()
    made.answer("/secrets", {"count": 1})
    made.answer("/action", {"output": "type action performed"})
    return made


def typed(
    made: FakeMachine, arguments: Json, chats: tuple[str, ...] | None = None, above: str = "parent"
) -> ToolOutcome:
    vault = SecretStore()
    vault.put(Secret("mail", HORSE, chats))
    return asyncio.run(TypeSecretTool(vault, (above,)).call(arguments, made.context()))


def test_a_secret_is_registered_for_redaction_before_it_is_typed() -> None:
    made = machine()
    outcome = typed(made, {"name": " mail "})
    assert outcome.value == {"typed": "mail"}
    hidden, acted = made.asked
    assert (hidden.path, hidden.json) == ("/api/v0/desktop/secrets", {"values": [HORSE]})
    assert acted.path == "/api/v0/desktop/action"
    assert (acted.json["action"], acted.json["text"]) == ("type", HORSE)
    assert "hosts" not in acted.json


def test_a_secret_of_the_chat_above_may_be_typed() -> None:
    assert not typed(machine(), {"name": "mail"}, ("parent",)).is_error
    assert not typed(machine(), {"name": "mail"}, (CALLER,)).is_error


def test_a_secret_for_some_domains_is_typed_only_where_the_desktop_finds_them() -> None:
    made, vault = machine(), SecretStore()
    vault.put(Secret("mail", HORSE, None, ("mail.example",)))
    tool = TypeSecretTool(vault)
    assert not asyncio.run(tool.call({"name": "mail"}, made.context())).is_error
    assert made.to("/action")[0].json["hosts"] == ["mail.example"]
    refusal = "The text was not typed. It is for pages of mail.example only."
    made.answer("/action", MachineRefused(409, refusal))
    assert asyncio.run(tool.call({"name": "mail"}, made.context())).error == refusal


def test_a_name_that_was_not_given_types_nothing() -> None:
    made = machine()
    assert typed(made, {"name": "bank"}).error == (
        "there is no secret of that name for you; you have mail"
    )
    assert typed(made, {"name": "mail"}, ("stranger",)).error == (
        "there is no secret of that name for you; you have none"
    )
    assert typed(made, {}).error == "name is required"
    assert made.asked == []


def test_a_secret_that_cannot_be_hidden_is_not_typed() -> None:
    made = machine()
    made.answer("/secrets", MachineRefused(400, "These secrets cannot be hidden."))
    assert typed(made, {"name": "mail"}).error == "These secrets cannot be hidden."
    assert made.to("/action") == []
    made.answer("/secrets", MachineUnavailable("gone"))
    assert typed(made, {"name": "mail"}).error == "gone"


def test_the_spec_names_the_tool() -> None:
    assert TypeSecretTool(SecretStore()).spec.name == "type_secret"
