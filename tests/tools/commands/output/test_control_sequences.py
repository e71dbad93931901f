import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.commands.output.control_sequences import TerminalText
from deskhand.tools.commands.output.table import harmless

CASES = {
    "plain\n\ttext ü 漢": "plain\n\ttext ü 漢",
    "\x1b[31mred\x1b[0m": "red",
    "\x1b[38;5;1;4:3m\x1b[?25l\x1b[2 qx": "x",
    "a\x1b[2J\x1b[1;1Hb": "ab",
    # The title of the window, and the clipboard, ended by BEL, ST and the C1 form of ST.
    "\x1b]0;title\x07x": "x",
    "\x1b]52;c;cm0gLXJm\x1b\\x": "x",
    "\x9d8;;http://evil\x9cx": "x",
    "\x1bP$q\x1b[m\x1b\\x\x1b_a\x1b\\\x1b^b\x1b\\\x1bXc\x1b\\y": "xy",
    "\x1b(B\x1b#8\x1b=\x1bc\x1b7x": "x",
    "\x9b31mx": "x",
    # CAN and SUB end a sequence, ESC begins another one.
    "\x1b[31\x18x\x1b]0;t\x1ay\x1b[3\x1b[1mz": "xyz",
    # A control character within a sequence is executed; of those none is left.
    "\x1b[3\x081mx": "x",
    # Nothing is printed over what was printed before.
    "100%\r50%": "100%\n50%",
    "line\r\nnext\r\r\nlast": "line\nnext\nlast",
    "rm\b\bls\x7f\x00": "rm  ls  ",
    "a\u202eb\u2066c": "a b c",
    # Other characters cannot be part of a sequence.
    "\x1b[ü": "ü",
    "\x1bü": "ü",
    "\x1b": "",
    "\x1b]0;never ends": "",
}


@pytest.mark.parametrize("text", CASES)
def test_sequences_are_removed(text: str) -> None:
    assert TerminalText().feed(text) == CASES[text]


@pytest.mark.parametrize("text", CASES)
def test_they_are_removed_if_they_come_a_character_at_a_time(text: str) -> None:
    cleaning = TerminalText()
    assert "".join(map(cleaning.feed, text)) == CASES[text]


@given(st.lists(st.text(st.sampled_from("\x1b\x9b\x9d\x07\x18\r\n\\[]P(;?1mxüA\x00\u202e"))))
def test_nothing_that_controls_a_terminal_is_left(pieces: list[str]) -> None:
    cleaning = TerminalText()
    shown = "".join(map(cleaning.feed, pieces))
    assert harmless(shown) == shown
    assert shown == TerminalText().feed("".join(pieces))
