import asyncio

from deskhand.tools.secrets.chat_secrets import ChatSecrets, Json, NoEvents
from deskhand.tools.secrets.secret import Secret
from deskhand.tools.secrets.store import SecretStore

PIN = "4821"


class Events(NoEvents):
    """The audit log of a test."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, str, str]] = []

    def note(self, actor: str, action: str, subject: str, details: Json | None = None) -> None:
        self.noted.append((actor, action, subject))


def test_a_chat_with_a_pin_is_masked_and_reported_once_when_it_probes() -> None:
    store, events, notices = SecretStore(), Events(), list[tuple[str, str]]()
    store.put(Secret("pin", PIN, ("parent",), ("bank.example",)))
    secrets = ChatSecrets(store, lambda *notice: notices.append(notice), events, lambda: 0.0)
    candidates = " ".join(f"{n:04}" for n in range(10_000))
    other = secrets.mask("other")
    assert other.hide_result(candidates) == other.hide(candidates) == candidates
    assert PIN not in other.hide_recorded(candidates)
    child = secrets.mask("child", ("parent",))
    for _ in range(25):
        assert PIN not in child.hide(candidates)
    assert notices == []
    for _ in range(25):
        assert PIN not in child.hide_result(candidates)
    assert notices == [("child", "pin")]
    assert events.noted == [("chat:child", "secret.masked_often", "pin")]
    secrets.forget("child")
    assert secrets.values(("child", "parent")) == [PIN]
    assert secrets.values(("other",)) == []
    assert PIN not in secrets.hide(candidates)


def test_without_an_audit_log_nothing_is_recorded() -> None:
    NoEvents().note("actor", "action", "subject")
    asyncio.run(NoEvents().record("actor", "action", "subject", {}))


def test_a_code_that_was_typed_and_its_seed_are_masked_and_no_desktop_gets_the_seed() -> None:
    seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    store = SecretStore()
    address = f"otpauth://totp/mail?secret={seed}"
    store.put(Secret("code", address, ("mine",), ("mail.example",), kind="totp"))
    secrets = ChatSecrets(store, lambda *_: None)
    mine, other = secrets.mask("mine"), secrets.mask("other")
    text = f"{address} {seed} 287082"
    assert mine.hide(text) == "•••• •••• 287082"
    secrets.mask_code("code", "287082")
    assert mine.hide(text) == mine.hide_recorded(text) == "•••• •••• ••••"
    assert other.hide("287082") == "287082"
    store.put(Secret("mail", "correct horse", anywhere=True))
    assert mine.hide("287082 correct horse") == "•••• ••••"
    assert secrets.values(("mine",)) == ["correct horse"]
