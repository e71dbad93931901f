from deskhand.desktop import errors
from deskhand.desktop.tool_calls.errors import CallRefused, MalformedCall, OutcomeUnknown


def test_each_error_is_a_sentence() -> None:
    assert str(MalformedCall("No.", "Because.")) == "No. Because."
    assert str(MalformedCall("No.")) == "No."
    assert str(CallRefused("code", "Refused.")) == "Refused."
    assert str(CallRefused.unknown("It broke off.")) == (
        "Nobody knows whether the tool call was done. It broke off."
    )
    assert str(CallRefused.mismatch()) == (
        "The tool call's id was used before with different input."
    )
    assert "was restarted" in str(CallRefused.restarted())
    assert "unknown" in str(OutcomeUnknown())


def test_the_vocabulary_of_the_desktop_exports_the_refusal() -> None:
    assert errors.CallRefused is CallRefused
