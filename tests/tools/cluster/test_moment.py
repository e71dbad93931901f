"""Lines and addresses of the events of the moment."""

import pytest

from deskhand.tools.cluster.errors import BadMember, BadMoment
from deskhand.tools.cluster.member import Member
from deskhand.tools.cluster.moment import MomentaryEvent, PeerAddress, listen_address, read_moment

TEXT = MomentaryEvent("text", "c1", {"text": "Grüße\n"})


def test_an_event_is_a_line() -> None:
    line = TEXT.to_line()
    assert line == b'["text","c1",{"text":"Gr\\u00fc\\u00dfe\\n"}]\n'
    assert read_moment(line) == TEXT
    assert read_moment(b"\n") is None


@pytest.mark.parametrize(
    "line", [b"x\n", b"[]\n", b"[1,2,3]\n", b'["a","b",3]\n', b'["a",2,{}]\n', b"7\n", b"\xff\n"]
)
def test_any_other_line_is_refused(line: bytes) -> None:
    with pytest.raises(BadMoment, match="not an event"):
        read_moment(line)


def test_the_text_of_a_chat_replaces_the_one_before() -> None:
    assert TEXT.key == "c1"
    assert MomentaryEvent("notice", "c1").key is None


@pytest.mark.parametrize("text", ["p1@10.0.0.5:7443", "p1@[fd00::5]:7443", "p1@db.example.com:1"])
def test_an_address_is_read_as_it_is_written(text: str) -> None:
    found = PeerAddress.parse(text)
    assert found is not None
    assert found.member == Member("plane", "p1")
    assert str(found) == text


@pytest.mark.parametrize(
    "text", ["", "http://10.0.0.5:7777", "10.0.0.5:7443", "p1@10.0.0.5", "P 1@h:1", "p1@h:99999"]
)
def test_a_control_plane_without_an_address_has_none(text: str) -> None:
    assert PeerAddress.parse(text) is None


@pytest.mark.parametrize(
    ("text", "found"), [("10.0.0.5:7443", ("10.0.0.5", 7443)), ("[fd00::5]:1", ("fd00::5", 1))]
)
def test_an_address_to_listen_at_has_host_and_port(text: str, found: tuple[str, int]) -> None:
    assert listen_address(text) == found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("7443", "is no HOST:PORT"),
        (":7443", "is no HOST:PORT"),
        ("h:7443/x", "is no HOST:PORT"),
        ("u@h:7443", "is no HOST:PORT"),
        ("h:99999", "Port out of range"),
        ("0.0.0.0:7443", "is no address at which others reach this host"),
        ("[::]:7443", "is no address at which others reach this host"),
    ],
)
def test_an_address_that_others_cannot_reach_is_refused(text: str, reason: str) -> None:
    with pytest.raises(BadMember, match=reason):
        listen_address(text)
