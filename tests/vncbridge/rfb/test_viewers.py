import asyncio

import pytest

from deskhand.vncbridge.auth.policy import Principal
from deskhand.vncbridge.rfb.viewers import (
    NoLease,
    ViewerIdentity,
    Viewers,
    ViewerSession,
    viewer_identity,
)
from tests.vncbridge.rfb.client_messages import (
    CONTROL,
    HELLO,
    REQUEST,
    SHARED_HELLO,
    encodings,
    key,
    pointer,
    resize,
    tap,
)

ANN = ViewerIdentity("control", "Ann", "viewer:a", asks=True)
PROGRAM = ViewerIdentity("control", "vnc", "connection:7", asks=False)
AGENT = ViewerIdentity("agent", "vnc", "vnc-agent:7", asks=False)


class OneHolder(NoLease):
    """A lease that one viewer holds."""

    def __init__(self, holder: str = "") -> None:
        self.holder = holder
        self.private = False
        self.typing = True
        self.counted = [0, 0]
        self.present: list[str] = []
        self.agent = ""

    def may_type(self) -> bool:
        return self.typing

    def agent_acts(self, key: str) -> bool:
        if not self.holder:
            self.agent = key
        return self.agent_holds(key)

    def agent_holds(self, key: str) -> bool:
        return self.agent == key and not self.holder

    def agent_parted(self, key: str) -> None:
        self.agent = ""

    def joined(self, key: str) -> None:
        self.present.append(key)

    def parted(self, key: str) -> None:
        self.present.remove(key)

    def holds_control(self, key: str) -> bool:
        return key == self.holder

    def may_see(self, key: str) -> bool:
        return not self.private or self.holds_control(key)

    def begins(self, key: str, name: str) -> bool:
        self.holder = self.holder or key
        return self.holds_control(key)

    def used(self, key: str, *, keys: int, clicks: int) -> None:
        self.counted[0] += keys
        self.counted[1] += clicks


class Room:
    def __init__(self, holder: str = "") -> None:
        self.lease = OneHolder(holder)
        self.viewers = Viewers(control=self.lease)
        self.sent = bytearray()

    def write(self, data: bytes) -> None:
        self.sent += data


def receive(session: ViewerSession, data: bytes) -> None:
    asyncio.run(session.receive(data))


def test_only_the_one_in_control_acts() -> None:
    room = Room()
    with room.viewers.session(ANN, room.write) as session:
        receive(session, HELLO + key(0x61) + REQUEST)
        assert room.sent == SHARED_HELLO + REQUEST
        room.lease.holder = ANN.key
        receive(session, key(0x61))
        assert room.sent.endswith(key(0x61))


def test_keys_go_down_only_while_they_may_be_passed_on() -> None:
    room = Room(ANN.key)
    with room.viewers.session(ANN, room.write) as session:
        receive(session, HELLO + key(0x61))
        room.lease.typing = False
        more = key(0x61, down=False) + pointer(1) + pointer(0)
        receive(session, key(0x62) + more)
        # A key that is down can go up, and the pointer moves.
        assert room.sent == SHARED_HELLO + key(0x61) + more
        assert room.lease.counted == [1, 1]


def test_a_program_takes_control_by_a_press_and_not_by_passing() -> None:
    room = Room()
    with room.viewers.session(PROGRAM, room.write) as session:
        receive(session, HELLO + pointer(0))
        assert room.lease.holder == ""
        receive(session, pointer(1) + pointer(0))
        assert room.lease.holder == PROGRAM.key
        assert room.sent == SHARED_HELLO + pointer(1) + pointer(0)


def test_a_program_does_not_take_what_another_has() -> None:
    room = Room("viewer:b")
    with room.viewers.session(PROGRAM, room.write) as session:
        receive(session, HELLO + key(0x61))
        assert room.sent == SHARED_HELLO


def test_who_may_only_look_never_acts() -> None:
    room = Room("connection:7")
    with room.viewers.session(PROGRAM._replace(role="view"), room.write) as session:
        receive(session, HELLO + key(0x61) + pointer(1))
        assert room.sent == SHARED_HELLO


def test_what_is_held_is_let_go_of_when_control_ends_and_when_the_watcher_leaves() -> None:
    room = Room(ANN.key)
    with room.viewers.session(ANN, room.write) as session:
        receive(session, HELLO + key(0x61) + pointer(1, 3, 4))
        room.lease.holder = ""
        room.viewers.apply_control_change()
        assert room.sent.endswith(key(0x61, down=False) + pointer(0, 3, 4))
        room.lease.holder = ANN.key
        receive(session, key(0x62))
        room.viewers.apply_control_change()
    assert room.sent.endswith(key(0x62) + key(0x62, down=False))
    assert room.lease.present == []


def test_keys_and_clicks_are_counted_and_wheels_and_moves_are_not() -> None:
    room = Room(ANN.key)
    with room.viewers.session(ANN, room.write) as session:
        receive(session, HELLO + key(0x61) + key(0x61, down=False))
        receive(session, pointer(0) + pointer(1) + pointer(1, 9, 9) + pointer(5) + pointer(0))
        receive(session, pointer(8) + pointer(0))
        assert room.lease.counted == [1, 2]


CLICKED = pointer(1) + pointer(0) + pointer(4) + pointer(0)
SHORTCUT = key(CONTROL) + tap(0x74, 0x74) + key(CONTROL, down=False)


@pytest.mark.parametrize("pieces", [1, 8, 1000])
@pytest.mark.parametrize("moving", [CLICKED, SHORTCUT])
def test_a_key_waits_until_a_click_or_shortcut_before_it_has_moved_the_focus(
    moving: bytes, pieces: int
) -> None:
    sent, waits = bytearray(), list[int]()

    async def await_focus() -> None:
        waits.append(len(sent))

    async def scenario(data: bytes) -> None:
        with Viewers().session(ANN, sent.extend, await_focus) as session:
            for start in range(0, len(data), pieces):
                await session.receive(data[start : start + pieces])

    notch = pointer(8) + pointer(0)
    before = SHARED_HELLO + pointer(0) + notch + tap(0x61) + moving
    data = before + tap(0x61, 0x61) + pointer(1)
    asyncio.run(scenario(data.replace(SHARED_HELLO, HELLO)))
    assert waits == [len(before)]
    assert sent == data + pointer(0)


def test_a_key_is_refused_if_control_ends_while_it_waits_for_a_click() -> None:
    room, sent = Room(ANN.key), bytearray()

    async def lose_control() -> None:
        room.lease.holder = ""

    with room.viewers.session(ANN, sent.extend, lose_control) as session:
        receive(session, HELLO + pointer(1) + pointer(0))
        assert sent.endswith(pointer(0))
        receive(session, key(0x61))
        assert not sent.endswith(key(0x61))


def test_other_sessions_are_revoked_when_the_desktop_is_private() -> None:
    room = Room(ANN.key)
    with (
        room.viewers.session(ANN, room.write) as ann,
        room.viewers.session(PROGRAM, room.write) as other,
    ):
        room.lease.private = True
        room.viewers.apply_control_change()
        assert not ann.revoked.is_set()
        assert other.revoked.is_set()


@pytest.mark.parametrize(
    ("query", "scopes", "role", "name", "asks"),
    [
        ({}, ("admin",), "control", "owner", False),
        ({"role": "view"}, ("admin",), "view", "owner", False),
        ({"role": "control"}, ("desktop:d:view",), "view", "owner", False),
        ({}, ("desktop:d:view", "desktop:another:control"), "view", "owner", False),
        ({"name": " Ann\n"}, ("desktop:d:control",), "control", "Ann", False),
        ({"viewer": "x", "name": "Ann"}, ("admin",), "control", "Ann", True),
    ],
)
def test_who_comes_is_read_from_the_address_and_the_credential(
    query: dict[str, str], scopes: tuple[str, ...], role: str, name: str, asks: bool
) -> None:
    found = viewer_identity(query, Principal("owner", scopes), "d")
    assert (found.role, found.name, found.asks) == (role, name, asks)


def test_each_nameless_connection_is_a_viewer_of_its_own() -> None:
    assert viewer_identity({}, None, "d").key != viewer_identity({}, None, "d").key
    named = {"name": "Ann"}
    assert viewer_identity(named, None, "d").key == viewer_identity(named, None, "d").key


def test_an_agent_acts_without_taking_control_from_anyone() -> None:
    room = Room()
    with room.viewers.session(AGENT, room.write) as session:
        receive(session, HELLO + pointer(0, 5, 5) + key(0x61) + key(0x61, down=False))
        assert room.sent.endswith(pointer(0, 5, 5) + key(0x61) + key(0x61, down=False))
        assert (room.lease.holder, room.lease.counted) == ("", [0, 0])
        assert room.lease.agent == AGENT.key
    assert room.lease.agent == ""


def test_an_agent_is_refused_while_a_person_is_in_control() -> None:
    room = Room()
    with room.viewers.session(AGENT, room.write) as session:
        receive(session, HELLO + key(0x61))
        room.lease.holder = ANN.key
        room.viewers.apply_control_change()
        assert room.sent.endswith(key(0x61, down=False))
        receive(session, key(0x62))
        assert room.sent.endswith(key(0x61, down=False))


def test_each_connection_of_an_agent_acts_for_itself() -> None:
    owner = Principal("owner")
    one, two = (viewer_identity({"role": "agent", "viewer": "x"}, owner, "d") for _ in range(2))
    assert one.role == "agent"
    assert one.key != two.key
    watcher = Principal("guest", ("desktop:d:view",))
    assert viewer_identity({"role": "agent"}, watcher, "d").role == "view"


def test_a_size_is_requested_only_by_a_client_that_understands_the_answer() -> None:
    room = Room()
    with room.viewers.session(PROGRAM, room.write) as session:
        receive(session, HELLO + encodings(0) + resize(1))
        assert room.sent == SHARED_HELLO + encodings(0)
        receive(session, encodings(-308) + resize(1))
        assert room.sent.endswith(encodings(0) + encodings(-308) + resize(1))
