import pytest

from deskhand.desktop.dialects.cdp.root_session import RootSession

ROOT = RootSession("s1")


def test_a_request_without_a_session_belongs_to_the_root() -> None:
    assert ROOT.to_browser({"id": 1}) == {"id": 1, "sessionId": "s1"}
    assert ROOT.to_browser({"id": 1, "sessionId": "s2"}) == {"id": 1, "sessionId": "s2"}


def test_messages_of_the_root_come_without_a_session() -> None:
    assert ROOT.to_client({"id": 1, "sessionId": "s1"}) == {"id": 1}
    assert ROOT.to_client({"id": 1, "sessionId": "s2"}) == {"id": 1, "sessionId": "s2"}
    assert ROOT.to_client({"method": "Target.targetCreated"}) is None


@pytest.mark.parametrize(
    ("message", "ends"),
    [
        ({"method": "Target.detachedFromTarget", "params": {"sessionId": "s1"}}, True),
        ({"method": "Target.detachedFromTarget", "params": {"sessionId": "s2"}}, False),
        ({"method": "Target.detachedFromTarget"}, False),
        ({"method": "Page.loaded", "params": {"sessionId": "s1"}}, False),
    ],
)
def test_the_session_ends_when_it_is_detached(message: dict[str, object], ends: bool) -> None:
    assert ROOT.ends(message) == ends
