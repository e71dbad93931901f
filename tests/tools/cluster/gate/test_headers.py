from deskhand.tools.cluster.gate.headers import content_length, to_desktop, to_plane


def test_headers_pass_as_they_are_besides_host_and_credential() -> None:
    sent = [
        (b"host", b"n7.node.deskhand.internal"),
        (b"authorization", b"Bearer mine"),
        (b"deskhand-generation", b"7"),
        (b"accept", b"text/html"),
        (b"accept", b"image/png"),
        (b"x-odd", "\xe9".encode("latin-1")),
    ]
    assert to_desktop(sent) == {
        "deskhand-generation": "7",
        "accept": "text/html, image/png",
        "x-odd": "\xe9",
    }


def test_headers_of_one_connection_do_not_pass() -> None:
    handshake = [(b"sec-websocket-key", b"1"), (b"upgrade", b"websocket")]
    assert to_desktop([*handshake, (b"connection", b"Upgrade")]) == {}
    sent = [(b"connection", b"keep-alive, X-Own"), (b"x-own", b"1"), (b"te", b"trailers")]
    assert to_desktop([*sent, (b"transfer-encoding", b"chunked")]) == {}
    assert to_desktop([(b"connection", b"Keep-Alive"), (b"keep-alive", b"1")]) == {}
    answered = [(b"connection", b"close"), (b"etag", b"1"), (b"transfer-encoding", b"chunked")]
    assert to_plane(answered) == [(b"etag", b"1")]


def test_the_length_of_content_is_known_unless_it_comes_in_chunks() -> None:
    assert content_length([(b"accept", b"*/*")]) == 0
    assert content_length([(b"content-length", b"12")]) == 12
    assert content_length([(b"transfer-encoding", b"chunked")]) is None
