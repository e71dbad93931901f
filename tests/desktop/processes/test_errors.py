from deskhand.desktop.processes.errors import (
    BadProcessRequest,
    InputClosed,
    NotRunning,
    StartFailed,
    UnknownProcess,
)


def test_each_error_says_what_is_wrong() -> None:
    assert str(BadProcessRequest("No.", "Because.")) == "No. Because."
    assert str(BadProcessRequest("No.")) == "No."
    assert "'p'" in str(UnknownProcess("p"))
    assert "'p'" in str(NotRunning("p"))
    assert "'p'" in str(InputClosed("p"))
    assert str(StartFailed("no shell")) == "no shell"
