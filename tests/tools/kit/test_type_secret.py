import asyncio
from collections.abc import Collection
from dataclasses import replace

import pytest

from deskhand.tools.kit.support.spec import Json, MachineRefused, MachineUnavailable, ToolOutcome
from deskhand.tools.kit.type_secret import NOWHERE, TypeSecretTool
from deskhand.tools.secrets.secret import Secret
from deskhand.tools.secrets.store import SecretStore
from tests.tools.kit.machine import FakeMachine

HORSE = "correct horse"
CALLER = FakeMachine().context().chat_id


def machine() -> FakeMachine:
    made = FakeMachine()
    made.answer("/secrets", {"count": 1})
    made.answer("/action", {"output": "type action performed", "typed_into": "www.mail.example"})
    return made


def typed(
    made: FakeMachine, arguments: Json, chats: tuple[str, ...] | None = None, above: str = "parent"
) -> ToolOutcome:
    vault = SecretStore()
    vault.put(Secret("mail", HORSE, chats, anywhere=True))
    return asyncio.run(TypeSecretTool(vault, (above,)).call(arguments, made.context()))


def test_a_secret_is_registered_for_redaction_before_it_is_typed() -> None:
    made = machine()
    outcome = typed(made, {"name": " mail "})
    assert outcome.value == {"typed": "mail"}
    hidden, acted = made.asked
    assert (hidden.path, hidden.json) == ("/api/v0/desktop/secrets", {"values": [HORSE]})
    assert acted.path == "/api/v0/desktop/action"
    assert (acted.json["action"], acted.json["text"]) == ("type", HORSE)
    assert acted.json["protected"] is True
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
    assert "any_field" not in made.to("/action")[0].json
    vault.put(Secret("mail", HORSE, None, ("mail.example",), any_field=True))
    assert not asyncio.run(tool.call({"name": "mail"}, made.context())).is_error
    assert made.to("/action")[1].json["any_field"] is True
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


class Events:
    """The audit log, and how many requests the desktop had got at each record."""

    def __init__(self, made: FakeMachine) -> None:
        self.made = made
        self.records: list[tuple[int, str, str, str, Json]] = []

    async def record(self, actor: str, action: str, subject: str, details: Json) -> None:
        self.records.append((len(self.made.asked), actor, action, subject, details))


def test_the_audit_log_has_an_attempt_before_the_desktop_gets_the_value() -> None:
    made, vault = machine(), SecretStore()
    vault.put(Secret("mail", HORSE, None, ("mail.example",)))
    events, where = Events(made), {"domains": ["mail.example"]}
    tool = TypeSecretTool(vault, audit=events)
    asyncio.run(tool.call({"name": "mail"}, made.context()))
    made.answer("/action", MachineRefused(409, "focus moved"))
    asyncio.run(tool.call({"name": "mail"}, made.context()))
    actor = f"chat:{CALLER}"
    assert events.records == [
        (0, actor, "secret.type", "mail", where),
        (2, actor, "secret.typed", "mail", {**where, "host": "www.mail.example"}),
        (2, actor, "secret.type", "mail", where),
        (4, actor, "secret.refused", "mail", {**where, "error": "focus moved"}),
    ]


def test_a_secret_for_chats_without_execute_is_not_for_those_that_run_programs() -> None:
    made, vault = machine(), SecretStore()
    vault.put(Secret("mail", HORSE, anywhere=True, without_execute=True))
    running, reading = (TypeSecretTool(vault, execute=one) for one in (True, False))
    refused = asyncio.run(running.call({"name": "mail"}, made.context()))
    assert refused.error == "there is no secret of that name for you; you have none"
    assert made.asked == []
    assert not asyncio.run(reading.call({"name": "mail"}, made.context())).is_error


class OldSecrets:
    """A store with a secret of an earlier version, which has no domains."""

    def given(self, chats: Collection[str]) -> list[Secret]:
        return [Secret("mail", HORSE)]

    def mask_code(self, name: str, code: str) -> None:
        raise AssertionError("it has no codes")


def test_a_secret_of_an_earlier_version_is_not_typed_without_domains() -> None:
    made = machine()
    outcome = asyncio.run(TypeSecretTool(OldSecrets()).call({"name": "mail"}, made.context()))
    assert outcome.error == (
        "mail cannot be typed: a person has to store it again with its domains"
    )
    assert made.asked == []


def test_the_spec_names_the_tool() -> None:
    assert TypeSecretTool(SecretStore()).spec.name == "type_secret"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("human_in_control", "not typed: Ann was in control."),
        ("held_by_chat", "Another is in control."),
    ],
)
def test_a_secret_is_not_typed_after_a_person_without_a_look_at_the_screen(
    code: str, error: str
) -> None:
    made = machine()
    made.answer("/action", MachineRefused(409, "Another is in control.", code=code))

    async def after_person() -> str:
        return "Ann was in control."

    secret = Secret("mail", "correct horse", anywhere=True)
    vault = SecretStore()
    vault.put(secret)
    context = replace(made.context(), after_person=after_person)
    outcome = asyncio.run(TypeSecretTool(vault).call({"name": "mail"}, context))
    assert outcome.error == error
    assert len(made.to("/action")) == 1


SEED = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


@pytest.mark.parametrize(
    ("now", "code", "left", "slept"),
    [(30.0, "287082", 30, []), (49.0, "287082", 11, []), (28.5, "287082", 30, [1.5])],
)
def test_of_a_one_time_code_one_is_typed_that_does_not_expire_at_once(
    now: float, code: str, left: int, slept: list[float]
) -> None:
    made, vault, waited = machine(), SecretStore(), list[float]()
    address = f"otpauth://totp/mail?secret={SEED}"
    vault.put(Secret("code", address, None, ("mail.example",), kind="totp"))

    async def sleep(seconds: float) -> None:
        assert made.asked == []
        waited.append(seconds)

    tool = TypeSecretTool(vault, clock=lambda: now + sum(waited), sleep=sleep)
    outcome = asyncio.run(tool.call({"name": "code"}, made.context()))
    assert outcome.value == {"typed": "code", "expires_in_s": left}
    assert waited == slept
    hidden, acted = made.asked
    assert hidden.json == {"values": [], "codes": [code]}
    assert (acted.json["text"], acted.json["hosts"]) == (code, ["mail.example"])
    assert vault.hide(f"{code} {SEED}") == "•••• ••••"
    assert SEED not in str(made.asked)


def test_a_value_that_no_window_received_is_reported() -> None:
    made = FakeMachine()
    made.answer("/secrets", {"count": 1})
    made.answer("/action", {"output": "type action performed", "nothing_focused": True})
    assert typed(made, {"name": "mail"}).value == {"typed": "mail", "warning": NOWHERE}
