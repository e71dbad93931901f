"""Programs that copy and paste without a window of their own."""

import pytest

from tests.programs.editors import CLIPBOARD, copied, fresh, output, skip_without
from tests.system.services import Service, until

pytestmark = [pytest.mark.programs, pytest.mark.x11]

TEXT = "grüße 日本 😀\nand a second line"
PROGRAMS = {
    "xclip": ("xclip -selection {} -in", "xclip -selection {} -out"),
    "xsel": ("xsel --{} --input", "xsel --{} --output"),
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("selection", ["primary", "clipboard"])
def test_a_text_is_copied_and_pasted(desktop: Service, program: str, selection: str) -> None:
    skip_without(program)
    copy, paste = (command.format(selection) for command in PROGRAMS[program])
    text = fresh(TEXT)
    # The program that copies stays, and keeps its output open.
    output(desktop, f"{copy} >/dev/null 2>&1", text)
    until(lambda: output(desktop, paste) == text, "what was copied")
    if selection == "clipboard":
        assert copied(desktop) == text
        by_api = fresh(TEXT)
        assert desktop.http.put(CLIPBOARD, json={"text": by_api}).is_success
        assert output(desktop, paste) == by_api


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_long_text_is_copied_in_parts(desktop: Service, program: str) -> None:
    skip_without(program)
    copy, paste = (command.format("clipboard") for command in PROGRAMS[program])
    # Longer than any request, so that INCR is needed (ICCCM, section 2.7.2).
    output(desktop, f"seq 500000 | {copy} >/dev/null 2>&1")
    assert output(desktop, f"seq 500000 > long; {paste} | cmp - long && echo same") == "same\n"
    assert copied(desktop).endswith("\n500000\n")
