import pytest

from deskhand.vncbridge.rfb.messages import ClientMessage, MessageKind
from deskhand.vncbridge.rfb.permissions import is_press, min_role, passes

EVERYBODY = {
    *(
        MessageKind.VERSION,
        MessageKind.SECURITY,
        MessageKind.INIT,
        MessageKind.PIXEL_FORMAT,
        MessageKind.ENCODINGS,
    ),
    *(MessageKind.UPDATE_REQUEST, MessageKind.CONTINUOUS_UPDATES, MessageKind.FENCE),
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


@pytest.mark.parametrize(
    ("roles", "role"),
    [
        (("control",), "control"),
        (("control", "control"), "control"),
        (("control", "view"), "view"),
        (("control", "root"), "view"),
    ],
)
def test_the_lowest_role_counts(roles: tuple[str, ...], role: str) -> None:
    assert min_role(*roles) == role
