import pickle
import traceback

import pytest

from deskhand.desktop.errors import (
    AccountUnavailable,
    ActionFailed,
    BadField,
    DesktopError,
    DesktopRefused,
    DesktopUnavailable,
    DisplayGone,
    DisplayNotReady,
    FieldTooShort,
    FocusMoved,
    ForeignHost,
    HeldByChat,
    HumanInControl,
    InvalidAction,
    KeyboardGrabbed,
    MissingProgram,
    NothingSuch,
    NotInControl,
    QueueFull,
    UnfitField,
    UnknownWindow,
    UntypableText,
)

SENTENCES: list[tuple[DesktopError, str]] = [
    (InvalidAction("Unknown key: foo", "Did you mean f?"), "Unknown key: foo Did you mean f?"),
    (InvalidAction("Unknown action: x"), "Unknown action: x"),
    (QueueFull(32), "32 actions wait for this desktop already"),
    (
        HumanInControl("Ann"),
        "Ann is in control of this desktop; wait until control is given back",
    ),
    (HeldByChat("c1", 12.5), "chat c1 works on this desktop, until it is idle for 30 s"),
    (NotInControl("Ann"), "Ann is in control"),
    (NotInControl(""), "nobody is in control"),
    (
        ForeignHost(("a.example",), "b.example"),
        "The text was not typed. It is for pages of a.example only, and b.example has the"
        " keyboard: click the field there first.",
    ),
    (
        FocusMoved(),
        "focus moved (the rest of the text was withheld: clear the field, click it again)",
    ),
    (
        KeyboardGrabbed(),
        "a program has grabbed the keyboard (nothing more was typed: close its menu or dialog, or"
        " end the program)",
    ),
    (UnknownWindow(7), "there is no window 7; GET /api/v0/desktop/windows lists them"),
    (NothingSuch("No such application.", "Known: xterm."), "No such application. Known: xterm."),
    (BadField("a", "a is required", "No a.", "Give it."), "No a. Give it."),
    (ActionFailed("Scroll failed.", "no display"), "Scroll failed. no display"),
    (UntypableText("語"), "the keyboard cannot type '語'"),
    (DisplayNotReady(":7", 5.0), "display :7 not ready after 5.0 s"),
    (
        DisplayNotReady(":7", 5.0, "no font"),
        "display :7 not ready after 5.0 s; its log ends: no font",
    ),
    (
        UnfitField("Search", ("a.example",)),
        "The text was not typed. It is for fields of a sign-in only, and the field “Search” is none"
        " of these: a password field, one with autocomplete for a user name, email, telephone,"
        " password or one-time code, or a line of a form with a password field. The owner of the"
        " text can permit any field of a.example with any_field.",
    ),
    (FieldTooShort(), "The text was not typed. The field is too short for it."),
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


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("evil.example", "evil.example has the keyboard"),
        ("", "no page is known to have the keyboard"),
    ],
)
def test_a_text_kept_from_a_page_names_its_hosts_and_the_page(host: str, found: str) -> None:
    error = ForeignHost(["a.example", "b.example"], host)
    assert str(error) == (
        "The text was not typed. It is for pages of a.example, b.example only,"
        f" and {found}: click the field there first."
    )
    assert (error.status, error.code) == (409, "foreign_host")


def test_a_traceback_says_what_to_do_and_the_text_does_not() -> None:
    error = DesktopUnavailable("nothing answers")
    assert str(error) == "nothing answers"
    shown = "".join(traceback.format_exception(error))
    assert shown.endswith(f"nothing answers\n{DesktopUnavailable.advice}\n")


def test_an_error_that_was_sent_to_another_process_gives_its_advice_once() -> None:
    copy = pickle.loads(pickle.dumps(InvalidAction("Unknown key.")))
    assert copy.__notes__ == [InvalidAction.advice]


def test_an_error_without_advice_has_no_note() -> None:
    assert not hasattr(QueueFull(3), "__notes__")
