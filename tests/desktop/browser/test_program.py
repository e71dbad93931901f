"""Browsers played by scripts, on a PATH of their own."""

from pathlib import Path

import pytest

from deskhand.desktop.browser.program import PROGRAMS, find_browser
from deskhand.desktop.errors import NoBrowser

# The script that /usr/bin/chromium-browser of Ubuntu 24.04 is, shortened.
STUB = """#!/bin/sh
if ! [ -x /snap/bin/chromium ]; then
    echo "Command '$0' requires the chromium snap to be installed." >&2
    echo "snap install chromium" >&2
    exit 10
fi
exec /snap/bin/chromium "$@"
"""
REAL = '#!/bin/sh\nexec /usr/lib/chromium/chromium "$@"\n'


def put(folder: Path, name: str, text: str = REAL) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
    return str(folder / name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_known_browser_is_accepted(tmp_path: Path, name: str) -> None:
    assert find_browser(path=str(Path(put(tmp_path, name)).parent)) == str(tmp_path / name)


def test_the_first_name_is_preferred(tmp_path: Path) -> None:
    for name in reversed(PROGRAMS):
        put(tmp_path, name)
    assert find_browser(path=str(tmp_path)) == str(tmp_path / PROGRAMS[0])


def test_a_stub_of_a_snap_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "chromium", STUB)
    chrome = put(tmp_path, "google-chrome")
    assert find_browser(path=str(tmp_path)) == chrome


def test_a_link_to_snap_is_passed_over(tmp_path: Path) -> None:
    snap = put(tmp_path / "elsewhere", "snap", "\x7fELF")
    (tmp_path / "chromium").symlink_to(snap)
    with pytest.raises(NoBrowser, match="starts a snap"):
        find_browser(path=str(tmp_path))


def test_with_stubs_alone_the_error_names_one_and_what_to_install(tmp_path: Path) -> None:
    stub = put(tmp_path, "chromium", STUB)
    with pytest.raises(NoBrowser, match="google-chrome-stable") as refused:
        find_browser(path=str(tmp_path))
    assert stub in str(refused.value)


def test_without_any_the_error_names_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(NoBrowser, match=r"no browser is installed: install chromium"):
        find_browser(path=str(tmp_path))


def test_a_setting_names_another_by_name_or_path(tmp_path: Path) -> None:
    put(tmp_path, "chromium")
    other = put(tmp_path, "vivaldi")
    assert find_browser("vivaldi", str(tmp_path)) == other
    assert find_browser(other, "/nowhere") == other
    with pytest.raises(NoBrowser, match="'opera' of the settings is not installed"):
        find_browser("opera", str(tmp_path))


def test_a_program_that_cannot_be_read_is_no_snap(tmp_path: Path) -> None:
    binary = put(tmp_path, "chromium", "\x7fELF /snap/bin/")
    assert find_browser(path=str(tmp_path)) == binary
