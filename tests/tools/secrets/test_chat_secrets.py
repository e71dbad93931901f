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
