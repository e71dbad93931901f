from deskhand.desktop.processes.errors import (
    BadProcessRequest,
    InputClosed,
    NoTerminal,
    NotRunning,
    OutputNotKept,
    StartFailed,
    TooManyOutputStreams,
    UnknownProcess,
)


def test_each_error_has_a_message() -> None:
    assert str(BadProcessRequest("No.", "Because.")) == "No. Because."
    assert str(BadProcessRequest("No.")) == "No."
    assert "'p'" in str(UnknownProcess("p"))
    assert "'p'" in str(NotRunning("p"))
    assert "'p'" in str(InputClosed("p"))
    assert str(NoTerminal("p")) == "Process 'p' runs in no terminal."
    assert str(TooManyOutputStreams(8)) == "At most 8 streams may be open at once."
    assert str(OutputNotKept("There is no copy.")) == "There is no copy."
    assert str(StartFailed("no shell")) == "no shell"
