from deskhand.tools.processes.errors import (
    BadRequest,
    CallRefused,
    InputClosed,
    NotRunning,
    OutcomeUnknown,
    StartFailed,
    UnknownProcess,
)


def test_each_error_says_what_is_wrong() -> None:
    assert str(BadRequest("No.", "Because.")) == "No. Because."
    assert str(BadRequest("No.")) == "No."
    assert "'p'" in str(UnknownProcess("p"))
    assert "'p'" in str(NotRunning("p"))
    assert "'p'" in str(InputClosed("p"))
    assert "unknown" in str(OutcomeUnknown())
    assert str(CallRefused("code", "Refused.")) == "Refused."
    assert str(StartFailed("no shell")) == "no shell"
