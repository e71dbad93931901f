from deskhand.vncbridge.errors import CannotListen, ClientGone


def test_each_error_is_a_sentence() -> None:
    assert str(ClientGone()) == "the client went away"
    assert str(CannotListen("127.0.0.1:1", "taken")) == "cannot listen on 127.0.0.1:1: taken"
