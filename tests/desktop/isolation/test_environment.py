from pathlib import PurePath

import pytest

from deskhand.desktop.isolation.environment import (
    BROWSER_HOME,
    built,
    of_browser,
    of_service,
    utf8_locale,
)

FOLDER = PurePath("/var/lib/deskhand/desktops/abc")


def test_nothing_of_the_services_environment_is_inherited() -> None:
    own = {"ANTHROPIC_API_KEY": "canary", "DESKHAND_TOKEN": "canary", "HOME": "/root", "TZ": "UTC"}
    found = built(FOLDER, "deskhand-01", "0123", inherited=own)
    assert "canary" not in str(found)
    assert "/root" not in str(found)
    assert found["TZ"] == "UTC"


def test_it_is_whole_and_private() -> None:
    found = built(FOLDER, "deskhand-01", "0123", inherited={})
    assert found["HOME"] == f"{FOLDER}/home"
    assert found["PATH"].startswith(f"{FOLDER}/bin:")
    assert found["XDG_RUNTIME_DIR"] == f"{FOLDER}/run/agent"
    assert found["USER"] == found["LOGNAME"] == "deskhand-01"
    assert found["DESKHAND_INSTANCE"] == "0123"
    assert found["LANG"] == "C.UTF-8"


def test_the_characters_may_be_of_another_locale_than_the_words() -> None:
    inherited = {"LANG": "de_DE.UTF-8", "LC_CTYPE": "C.UTF-8"}
    found = built(FOLDER, "u", "0", inherited=inherited)
    assert (found["LANG"], found["LC_CTYPE"]) == ("de_DE.UTF-8", "C.UTF-8")
    found = built(FOLDER, "u", "0", inherited={**inherited, "LC_ALL": "fr_FR.UTF-8"})
    assert (found["LANG"], found["LC_CTYPE"]) == ("fr_FR.UTF-8", "fr_FR.UTF-8")


def test_named_variables_are_inherited() -> None:
    found = built(FOLDER, "u", "0", inherited={"HTTP_PROXY": "p"}, inherit=["HTTP_PROXY", "NONE"])
    assert found["HTTP_PROXY"] == "p"
    assert "NONE" not in found


def test_what_is_given_goes_before_all_but_the_mark() -> None:
    given = [("TERM", "dumb"), ("A", "1"), ("DESKHAND_INSTANCE", "forged")]
    found = built(FOLDER, "u", "0", inherited={"A": "0"}, inherit=["A"], given=given)
    assert (found["TERM"], found["A"], found["DESKHAND_INSTANCE"]) == ("dumb", "1", "0")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (None, "C.UTF-8"),
        ("", "C.UTF-8"),
        ("C", "C.UTF-8"),
        ("de_DE.ISO-8859-1", "C.UTF-8"),
        ("de_DE.UTF-8", "de_DE.UTF-8"),
        ("en_US.utf8", "en_US.utf8"),
    ],
)
def test_the_locale_is_always_a_utf8_one(wanted: str | None, found: str) -> None:
    assert utf8_locale(wanted) == found


def test_programs_of_the_service_use_no_directory_of_the_agent() -> None:
    agent = built(FOLDER, "deskhand-01", "0123", inherited={})
    found = of_service(agent, FOLDER, "deskhand-01-s")
    assert found["USER"] == found["LOGNAME"] == "deskhand-01-s"
    assert found["DESKHAND_INSTANCE"] == "0123"
    text = str(found)
    assert not any(f"{FOLDER}/{name}" in text for name in ("home", "work", "tmp", "run/agent"))
    assert found["GSETTINGS_BACKEND"] == "memory"


def test_the_browser_is_configured_by_no_file_of_the_agent() -> None:
    agent = built(FOLDER, "deskhand-01", "0123", inherited={}, given=[("PATH", "/home/agent/bin")])
    found = {**agent, **of_browser(FOLDER, "deskhand-01-b")}
    assert (found["USER"], found["HOME"]) == ("deskhand-01-b", f"{FOLDER}/{BROWSER_HOME}")
    own = f"{FOLDER}/browser"
    assert (found["XDG_RUNTIME_DIR"], found["XDG_CACHE_HOME"]) == (own, f"{own}/.cache")
    text = str(found)
    assert "/home/agent" not in text
    assert not any(f"{FOLDER}/{name}" in text for name in ("home", "work", "tmp", "run/agent"))
