"""A terminal, and what runs in it."""

import shlex

import pytest

from tests.programs.conftest import Editors
from tests.programs.editors import WINDOWS, copied, fresh, locks, output, skip_without, window
from tests.system.services import Service, until
from tests.system.typing_targets import Terminal, keyboard_of

pytestmark = [pytest.mark.programs, pytest.mark.x11]

INSIDE = {"coordinate": [300, 120], "coordinate_space": "native"}
LARGE = "-geometry 40x6+700+500 -fa 'DejaVu Sans Mono' -fs 24"
FIRST_LINE = [790, 550]
"""A point of the first line of such a terminal, in native pixels."""
# By default tmux takes keys that follow one another at once as pasted.
TMUX = """
set -g assume-paste-time 0
set -g status off
set -g mode-keys vi
set -s copy-command "xclip -selection clipboard -in >/dev/null 2>&1"
"""


@pytest.fixture(scope="module")
def started(desktop: Service) -> tuple[Terminal, int]:
    """An xterm that takes every byte as it is, and its window."""
    terminal = Terminal(desktop)
    return terminal, window(desktop, "sh")["id"]


@pytest.fixture
def terminal(desktop: Service, started: tuple[Terminal, int]) -> Terminal:
    """The same in front of all other windows."""
    found, shown = started
    desktop.post(f"{WINDOWS}/{shown}/focus", {})
    until(lambda: keyboard_of(desktop) == "sh", "the focus of the terminal")
    return found


def test_xterm_gets_exact_text_whatever_the_locks_are(desktop: Service, terminal: Terminal) -> None:
    desktop.act(action="left_click", **INSIDE)
    text = fresh("abc ABC {}@ Grüße € Жук 日本 😀 12.5\n")
    with locks(desktop):
        assert terminal.received(text) == text


def test_a_middle_click_pastes_into_xterm(desktop: Service, terminal: Terminal) -> None:
    skip_without("xsel")
    text = fresh("selected grüße")
    output(desktop, "xsel --primary --input", text)
    # The process that stays may take the selection after the other one has ended.
    until(lambda: output(desktop, "xsel --primary --output") == text, "the selection")
    desktop.act(action="middle_click", **INSIDE)
    assert terminal.arrived(text) == text


def test_a_selection_of_xterm_is_pasted_into_an_editor(desktop: Service, editors: Editors) -> None:
    editor = editors.named("qt")
    word = fresh("in-the-terminal").replace(" ", "-")
    started = in_terminal(desktop, f"echo {word}; exec sleep 1000")

    def selected() -> bool:
        # The terminal may not have shown the word yet.
        desktop.act(action="triple_click", coordinate=FIRST_LINE, coordinate_space="native")
        return copied(desktop).strip() == word

    until(selected, "what was selected in the terminal")
    editor.click(action="middle_click")
    until(editor.has_keyboard, "the focus of the editor")
    editor.assert_holds(word)
    desktop.post(f"/api/v0/processes/{started}/signal", {"signal": "kill"})


def test_tmux_copies_by_xclip(desktop: Service) -> None:
    skip_without("tmux", "xclip")
    word = fresh("in-tmux").replace(" ", "-")
    inside = shlex.quote(f"echo {word}; exec cat")
    configured = f"printf %s {shlex.quote(TMUX)} > tmux.conf"
    in_terminal(desktop, f"{configured}; exec tmux -L programs -f tmux.conf new-session {inside}")
    shown = "tmux -L programs capture-pane -p"
    until(lambda: word in output(desktop, shown), "the word in tmux")
    desktop.act(action="key", text="ctrl+b [ g 0 space dollar Return")
    until(lambda: copied(desktop).rstrip() == word, "what tmux copied")
    output(desktop, "tmux -L programs kill-server")


def in_terminal(desktop: Service, script: str) -> str:
    """Run a script of the shell in a terminal with large letters; return its process."""
    title = fresh("terminal")
    command = f"exec xterm -T {shlex.quote(title)} {LARGE} -e sh -c {shlex.quote(script)}"
    started = desktop.post("/api/v0/processes/start", {"command": command})
    until(lambda: keyboard_of(desktop) == title, "the focus of the terminal")
    return str(started["id"])
