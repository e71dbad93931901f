from deskhand.tools.agents.providers.sse_data import SseData

STREAM = "event: a\r\ndata: {\r\ndata:  1}\r\n\r\n: ping\n\ndata:ä\n\n\ndata: cut".encode()
EVENTS = [b"{\n 1}", "ä".encode()]


def test_events_are_parsed_from_whole_streams_and_byte_by_byte() -> None:
    assert list(SseData().feed(STREAM)) == EVENTS
    parser = SseData()
    assert [e for i in range(len(STREAM)) for e in parser.feed(STREAM[i : i + 1])] == EVENTS
