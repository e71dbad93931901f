import pytest

from deskhand.vncbridge.rfb.messages import Kind, Message
from deskhand.vncbridge.rfb.permissions import asks_for_control, lowest, passes

EVERYBODY = {
    *(Kind.VERSION, Kind.SECURITY, Kind.INIT, Kind.PIXEL_FORMAT, Kind.ENCODINGS),
    *(Kind.UPDATE_REQUEST, Kind.CONTINUOUS_UPDATES, Kind.FENCE),
}


@pytest.mark.parametrize("kind", Kind)
def test_a_watcher_may_look_and_nothing_else(kind: Kind) -> None:
    assert passes(Message(kind, b""), "view") == (kind in EVERYBODY)


@pytest.mark.parametrize("kind", Kind)
def test_control_adds_keys_and_the_pointer(kind: Kind) -> None:
    wanted = kind in EVERYBODY | {Kind.KEY, Kind.POINTER}
    assert passes(Message(kind, b""), "control") == wanted


@pytest.mark.parametrize(
    ("message", "asks"),
    [
        (Message(Kind.KEY, b"", down=True), True),
        (Message(Kind.KEY, b""), False),
        (Message(Kind.POINTER, b"", buttons=1), True),
        (Message(Kind.POINTER, b""), False),
    ],
)
def test_a_deed_is_a_press(message: Message, asks: bool) -> None:
    assert asks_for_control(message) == asks


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
    assert lowest(*roles) == role
