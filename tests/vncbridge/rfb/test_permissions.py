import pytest

from deskhand.vncbridge.rfb.messages import ClientMessage, MessageKind
from deskhand.vncbridge.rfb.permissions import Role, is_press, passes, permitted_role

EVERYBODY = {
    *(
        MessageKind.VERSION,
        MessageKind.SECURITY,
        MessageKind.INIT,
        MessageKind.PIXEL_FORMAT,
        MessageKind.ENCODINGS,
    ),
    *(MessageKind.UPDATE_REQUEST, MessageKind.CONTINUOUS_UPDATES, MessageKind.FENCE),
    MessageKind.RESIZE,
}


@pytest.mark.parametrize("kind", MessageKind)
def test_a_watcher_may_look_and_nothing_else(kind: MessageKind) -> None:
    assert passes(ClientMessage(kind, b""), "view") == (kind in EVERYBODY)


@pytest.mark.parametrize("kind", MessageKind)
def test_control_adds_keys_and_the_pointer(kind: MessageKind) -> None:
    wanted = kind in EVERYBODY | {MessageKind.KEY, MessageKind.POINTER}
    assert passes(ClientMessage(kind, b""), "control") == wanted


@pytest.mark.parametrize(
    ("message", "asks"),
    [
        (ClientMessage(MessageKind.KEY, b"", down=True), True),
        (ClientMessage(MessageKind.KEY, b""), False),
        (ClientMessage(MessageKind.POINTER, b"", buttons=1), True),
        (ClientMessage(MessageKind.POINTER, b""), False),
    ],
)
def test_a_deed_is_a_press(message: ClientMessage, asks: bool) -> None:
    assert is_press(message) == asks


@pytest.mark.parametrize("kind", MessageKind)
def test_an_agent_sends_what_a_person_in_control_sends(kind: MessageKind) -> None:
    message = ClientMessage(kind, b"")
    assert passes(message, "agent") == passes(message, "control")


@pytest.mark.parametrize(
    ("granted", "requested", "role"),
    [
        ("control", "control", "control"),
        ("control", "agent", "agent"),
        ("control", "view", "view"),
        ("control", "root", "view"),
        ("view", "control", "view"),
        ("view", "agent", "view"),
    ],
)
def test_a_credential_limits_the_role(granted: Role, requested: str, role: Role) -> None:
    assert permitted_role(granted, requested) == role
