import pytest

from deskhand.tools.agents.approvals.places import NOT_KNOWN, Places, places_of

PLACES = Places("/kept/chat", "/d/home", ("/kept/chat",))


@pytest.mark.parametrize(
    ("word", "folder", "lasts"),
    [
        ("x", "/kept/chat", True),
        ("x", "/tmp", False),
        ("../kept/chat/x", "/tmp", True),
        ("/tmp/x", "/kept/chat", False),
        ("/kept/chat2", "/tmp", False),
        ("/kept", "/tmp", True),
        ("/", "/tmp", True),
        ("/k*", "/tmp", True),
        ("/tmp/*", "/kept/chat", False),
        ("*", "/tmp", False),
        ("$X", "/kept/chat", True),
        ("~/x", "/kept/chat", False),
        ("$HOME/x", "/kept/chat", False),
        ("${HOME}", "/kept/chat", False),
        ("~other", "/kept/chat", True),
    ],
)
def test_a_word_may_name_files_that_outlive_the_desktop(
    word: str, folder: str, lasts: bool
) -> None:
    assert PLACES.lasts(word, folder) is lasts


def test_everything_may_outlive_a_machine_that_is_not_known() -> None:
    assert NOT_KNOWN.lasts("/tmp/x", "/tmp")
    assert NOT_KNOWN.named_in("ls")


def test_nothing_outlives_a_desktop_without_such_directories() -> None:
    places = Places("/d/work", "/d/home", ())
    assert not places.lasts("/", "/d/work")
    assert not places.named_in("rm -rf /")


def test_a_command_names_a_directory() -> None:
    assert PLACES.named_in("ls /kept/chat | xargs rm")
    assert not PLACES.named_in("ls | xargs rm")


@pytest.mark.parametrize(
    ("requested", "folder"),
    [
        (None, "/kept/chat"),
        ("", "/kept/chat"),
        ("sub", "/kept/chat"),
        ("../x", "/kept/chat"),
        ("/tmp/a/..", "/tmp"),
        ("~/x", "/d/home/x"),
    ],
)
def test_a_command_runs_in_a_directory(requested: object, folder: str) -> None:
    assert PLACES.folder(requested) == folder


def test_a_desktop_answers_with_its_places() -> None:
    answer = {"working_dir": "/w", "home": "/h", "lasting_dirs": ["/w/"]}
    assert places_of(answer) == Places("/w", "/h", ("/w",))
    assert places_of({**answer, "lasting_dirs": None}) == NOT_KNOWN
    assert places_of({"working_dir": "/w"}) == places_of(b"") == NOT_KNOWN
