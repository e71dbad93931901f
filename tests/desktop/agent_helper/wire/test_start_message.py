import pytest

from deskhand.desktop.agent_helper.wire.start_message import LONGEST, HelperStart


@pytest.mark.parametrize(
    "start",
    [
        HelperStart(),
        HelperStart({"PATH": "/\udcff"}, ("/a", "/b\udcff"), (1000, 1001), 0o077, (5,), "/p"),
    ],
)
def test_the_first_message_is_read_as_it_was_written(start: HelperStart) -> None:
    assert start.line().endswith(b"\n")
    assert HelperStart.parse(start.line()) == start


def test_an_environment_that_does_not_fit_a_packet_is_refused() -> None:
    with pytest.raises(OSError, match="too long"):
        HelperStart({"LONG": "x" * LONGEST}).line()
