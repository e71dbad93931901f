"""Programs that are large or need OpenGL."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.programs.editors import (
    CLIPBOARD,
    SETTLED,
    copied,
    fresh,
    locks,
    output,
    skip_without,
    window,
)
from tests.system.services import Service, tidy, until
from tests.system.typing_targets import keyboard_of

pytestmark = [pytest.mark.programs, pytest.mark.x11, pytest.mark.full]

TEXT = "abc ABC Grüße € Жук 日本 12.5"


@pytest.fixture(scope="module")
def glx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A desktop whose programs draw with OpenGL; they are no clients of the filter."""
    with tidy(tmp_path_factory.mktemp("glx") / "errors.log", "--glx") as found:
        yield found


@contextmanager
def running(desktop: Service, command: str, title: str) -> Iterator[None]:
    """Run a program until the block ends; its window would cover those of others."""
    started = desktop.post("/api/v0/processes/start", {"command": command})
    window(desktop, title)

    def focused() -> bool:
        # A dialog of the first start may be in front of it.
        desktop.act(action="key", text="Escape")
        return title in keyboard_of(desktop)

    until(focused, f"the focus of {title}", pause=0.3)
    yield
    desktop.post(f"/api/v0/processes/{started['id']}/signal", {"signal": "kill"})
    until(lambda: title not in keyboard_of(desktop), f"the end of {title}")


def assert_copies_what_is_typed(desktop: Service) -> None:
    """Type into the program that has the keyboard, copy that, and paste something else."""
    text = fresh(TEXT)

    def holds(wanted: str) -> bool:
        desktop.act(action="key", text="ctrl+a ctrl+c")
        return copied(desktop).strip() == wanted

    def typed() -> bool:
        # The field may not have the keyboard yet.
        desktop.act(action="key", text="ctrl+a")
        with locks(desktop):
            desktop.act(action="type", text=text)
        return holds(text)

    until(typed, "what was typed", pause=0.3)
    into = fresh("pasted grüße")

    def pasted() -> bool:
        # Firefox may insert what is pasted after the characters of later keys.
        assert desktop.http.put(CLIPBOARD, json={"text": into}).is_success
        desktop.act(action="key", text="ctrl+a ctrl+v", observe=SETTLED)
        desktop.act(action="type", text=" and more")
        return holds(f"{into} and more")

    until(pasted, "what was pasted", pause=0.3)


@pytest.mark.slow("LibreOffice takes long to start")
def test_libreoffice_gets_exact_text(desktop: Service) -> None:
    skip_without("libreoffice-writer")
    if desktop.get("/api/v0/desktop")["level"] == "shared" and os.geteuid() == 0:
        pytest.skip("as root LibreOffice writes below /usr what other users cannot read")
    with running(desktop, "exec lowriter --norestore --nologo", "LibreOffice Writer"):
        assert_copies_what_is_typed(desktop)


@pytest.mark.slow("Firefox takes long to start")
def test_firefox_gets_exact_text(desktop: Service) -> None:
    skip_without("firefox-esr")
    page = (
        "<!doctype html><title>a field</title><textarea style='width:90vw;height:90vh'></textarea>"
    )
    output(desktop, "tee page.html", page)
    command = "mkdir firefox && exec firefox-esr --no-remote --profile $PWD/firefox $PWD/page.html"
    with running(desktop, command, "a field"):
        place = window(desktop, "a field")["geometry"]
        middle = [place["x"] + place["width"] // 2, place["y"] + place["height"] // 2]
        desktop.act(action="left_click", coordinate=middle)
        assert_copies_what_is_typed(desktop)


def test_alacritty_gets_exact_text(desktop: Service) -> None:
    assert_alacritty_gets_exact_text(desktop)


def test_alacritty_gets_exact_text_with_glx(glx: Service) -> None:
    assert_alacritty_gets_exact_text(glx)


def assert_alacritty_gets_exact_text(desktop: Service) -> None:
    skip_without("alacritty")
    command = "exec alacritty --title alacritty -e sh -c 'exec cat > typed.txt'"
    with running(desktop, command, "alacritty"):
        text = fresh(TEXT)
        with locks(desktop):
            desktop.act(action="type", text=f"{text}\n")
        # A key of the start is in the file too.
        until(lambda: output(desktop, "cat typed.txt").endswith(f"{text}\n"), "what was typed")
