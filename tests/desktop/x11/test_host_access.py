"""The message that admits a user, byte by byte."""

from deskhand.desktop.x11.host_access import REPLY_BYTES, admission, admitted


def test_a_user_is_admitted_by_the_id() -> None:
    sent = admission(2_000_000_005)
    # ChangeHosts, insert, 8 units; a server-interpreted address of 21 bytes, padded; then
    # GetInputFocus.
    assert sent[:8] == bytes((109, 0, 8, 0, 5, 0, 21, 0))
    assert sent[8:32] == b"localuser\0#2000000005\0\0\0"
    assert sent[32:] == bytes((43, 0, 1, 0))


def test_an_address_without_padding_is_sent_as_it_is() -> None:
    sent = admission(42_000)
    assert (sent[2], sent[6], len(sent)) == (6, 16, 28)


def test_an_error_comes_before_the_reply() -> None:
    assert admitted(b"\1" + bytes(REPLY_BYTES - 1))
    assert not admitted(bytes(REPLY_BYTES))
