import pytest

from deskhand.tools.control_plane.errors import (
    BadBody,
    BadCaller,
    ChatHasNoDesktop,
    ControlPlaneError,
    NoSuchVideoMoment,
    NotCut,
    NotShared,
    NotVisible,
    PathNotServed,
    PathRefused,
    TooManyStreams,
)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (PathRefused("has a dot part"), "the path has a dot part"),
        (PathNotServed("x", ("a", "b")), '"x" does not pass to a desktop; these do: a, b'),
        (BadBody("Wrong.", "So."), "Wrong. So."),
        (BadBody("Wrong."), "Wrong."),
        (BadCaller("A-B", "x" * 99), f"A-B must be a UUID, not {'x' * 80!r}."),
        (ChatHasNoDesktop(), "Chat has no desktop."),
        (NotShared(), "This link does not cover the conversation and its files."),
        (NotVisible("file", "f1"), "There is no file f1 that you may use."),
        (NoSuchVideoMoment("9 s", 2.5), "9 s; the video is 2.500 s long"),
        (NotCut("two sizes"), "two sizes"),
        (TooManyStreams(2), "All 2 event streams are in use; close one and try again."),
    ],
)
def test_each_error_is_a_sentence(error: ControlPlaneError, sentence: str) -> None:
    assert str(error) == sentence
