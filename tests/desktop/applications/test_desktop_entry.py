from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.applications.desktop_entry import DesktopEntry, entry

BROWSER = """\
# a comment
[Desktop Action other]
Name=Other
[Desktop Entry]
Type = Application
Name=Web Browser
Name[de]=Netz
Exec=/usr/bin/browser --flag "two words" %U 100%%
TryExec=browser
MimeType=text/html;image/png;
Terminal=true
[Another]
Name=Not this
"""


def test_a_file_is_read() -> None:
    assert entry("browser", BROWSER) == DesktopEntry(
        id="browser",
        name="Web Browser",
        argv=("/usr/bin/browser", "--flag", "two words", "100%"),
        types=("text/html", "image/png"),
        try_exec="browser",
        terminal=True,
    )


def test_what_is_no_application_or_not_shown_is_none() -> None:
    for line in ("Hidden=true", "NoDisplay=true"):
        assert entry("x", f"[Desktop Entry]\nType=Application\nExec=x\n{line}") is None
    assert entry("x", "[Desktop Entry]\nType=Link\nExec=x") is None
    assert entry("x", "Type=Application\nExec=x") is None


def test_a_command_line_that_cannot_be_read_is_none() -> None:
    for line in ("", "Exec=", "Exec=%U", 'Exec="open', 'Exec=""'):
        assert entry("x", f"[Desktop Entry]\nType=Application\n{line}") is None


def test_escapes_and_a_missing_name() -> None:
    found = entry("x", "[Desktop Entry]\nType=Application\nExec=run 'a\\sb' c\\\\\\\\d\\n%z")
    assert found is not None
    assert found.name == "x"
    assert found.argv == ("run", "a b", "c\\d", "%z")


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    found = entry("x", "[Desktop Entry]\nType=Application\nExec=" + text)
    assert found is None or found.argv
