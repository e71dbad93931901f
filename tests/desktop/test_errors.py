import pickle

import pytest

from deskhand.desktop.errors import (
    AccountUnavailable,
    ActionFailed,
    DesktopError,
    DesktopRefused,
    DesktopUnavailable,
    DisplayGone,
    DisplayNotReady,
    InvalidAction,
    MissingProgram,
    QueueFull,
    UntypableText,
)

SENTENCES: list[tuple[DesktopError, str]] = [
    (InvalidAction("Unknown key: foo", "Did you mean f?"), "Unknown key: foo Did you mean f?"),
    (InvalidAction("Unknown action: x"), "Unknown action: x"),
    (QueueFull(32), "32 actions wait for this desktop already"),
    (ActionFailed("Scroll failed.", "no display"), "Scroll failed. no display"),
    (UntypableText("語"), "the keyboard cannot type '語'"),
    (DisplayNotReady(":7", 5.0), "display :7 not ready after 5.0 s"),
    (
        DisplayNotReady(":7", 5.0, "no font"),
        "display :7 not ready after 5.0 s; its log ends: no font",
    ),
    (DisplayGone(":7"), "display :7 is gone"),
    (DisplayGone(":7", "killed"), "display :7 is gone: killed"),
    (MissingProgram("Xvnc", "tigervnc"), "Xvnc is not installed; install the package tigervnc"),
    (AccountUnavailable("no user desk"), "no user desk"),
    (DesktopRefused(404, "No such thing.", "It is gone."), "No such thing. It is gone."),
    (DesktopUnavailable("refused"), "refused"),
]


@pytest.mark.parametrize(("error", "sentence"), SENTENCES, ids=lambda v: type(v).__name__)
def test_an_error_says_what_happened_in_a_sentence(error: DesktopError, sentence: str) -> None:
    assert str(error) == sentence


@pytest.mark.parametrize(("error", "sentence"), SENTENCES, ids=lambda v: type(v).__name__)
def test_an_error_survives_a_process_boundary(error: DesktopError, sentence: str) -> None:
    assert str(pickle.loads(pickle.dumps(error))) == sentence
