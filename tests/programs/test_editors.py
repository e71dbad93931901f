"""Editors of GTK 4, Qt, Tk and Swing are used as a person would."""

import pytest

from tests.programs.conftest import Editors
from tests.programs.editors import (
    CLIPBOARD,
    ITEM,
    SETTLED,
    WINDOWS,
    Editor,
    copied,
    fresh,
    locks,
    output,
    skip_without,
)
from tests.system.services import Service, until

pytestmark = [pytest.mark.programs, pytest.mark.x11]

TEXT = "abc ABC {}@\\~ Grüße ÄÖÜ ß €µ éàç Жук λόγος 日本 😀 12.5"


def test_typed_text_is_exact_whatever_the_locks_are(desktop: Service, editor: Editor) -> None:
    # Java keeps 16 bits of a character that a key gives.
    text = fresh(TEXT.replace("😀", "") if editor.kind.name == "swing" else TEXT)
    with locks(desktop):
        editor.type(text)
    editor.assert_holds(text)


def test_a_window_gets_the_keyboard_by_a_click_and_by_focus(
    desktop: Service, editors: Editors, editor: Editor
) -> None:
    other = editors.named("qt" if editor.kind.name == "tk" else "tk")
    text = fresh("clicked ")
    editor.click()
    until(editor.has_keyboard, "the focus after a click")
    editor.type(text)
    editor.assert_holds(text)
    other.clear()
    desktop.post(f"{WINDOWS}/{editor.window}/focus", {})
    until(editor.has_keyboard, "the focus")
    editor.keys("ctrl+End")
    editor.type("focused")
    editor.assert_holds(text + "focused")
    other.click()
    other.assert_holds("")


def test_text_is_copied_and_pasted(desktop: Service, editor: Editor) -> None:
    text = fresh("copied grüße")
    editor.type(text)
    editor.keys("ctrl+a ctrl+c")
    until(lambda: copied(desktop) == text, "what was copied")
    pasted = fresh("pasted grüße 日本 😀")
    assert desktop.http.put(CLIPBOARD, json={"text": pasted}).is_success
    editor.keys("ctrl+a ctrl+v")
    editor.assert_holds(pasted)


def test_a_middle_click_pastes_the_selection(desktop: Service, editor: Editor) -> None:
    skip_without("xsel")
    text = fresh("selected grüße 日本")
    output(desktop, "xsel --primary --input", text)
    # The process that stays may take the selection after the other one has ended.
    until(lambda: output(desktop, "xsel --primary --output") == text, "the selection")
    editor.click(action="middle_click")
    editor.assert_holds(text)


def test_a_drag_selects_text(desktop: Service, editor: Editor) -> None:
    text = fresh("dragged over grüße")
    editor.type(text)
    line = editor.kind.first_line

    def selected() -> bool:
        # The editor may not have shown the text yet.
        desktop.act(
            action="left_click_drag",
            start_coordinate=editor.at(560, line),
            coordinate=editor.at(20, line),
            coordinate_space="native",
        )
        editor.keys("ctrl+c")
        # Editors have margins of several widths.
        found = copied(desktop)
        return len(found) > len(text) - 4 and text.endswith(found)

    until(selected, "what was selected", pause=0.1)


def test_an_item_of_a_menu_is_chosen(desktop: Service, editor: Editor) -> None:
    text = fresh("capitals")
    editor.type(text)
    if editor.kind.menu:
        editor.click(18, editor.kind.menu)
        editor.click(30, editor.kind.menu + ITEM)
        editor.assert_holds(text.upper())
        return

    def chosen() -> bool:
        # The menu of GTK's text views begins with Cut and Copy. It may open after the keys.
        editor.keys("Escape ctrl+a")
        editor.click(30, editor.kind.first_line, action="right_click", observe=SETTLED)
        editor.keys("Down Return")
        return copied(desktop) == text

    until(chosen, "what was copied", pause=0.1)
    editor.assert_holds(text)


@pytest.mark.parametrize(("source", "target"), [("qt", "swing"), ("swing", "qt")])
def test_a_selection_is_dragged_to_another_program(
    desktop: Service, editors: Editors, source: str, target: str
) -> None:
    receiving, giving = editors.named(target), editors.named(source)
    text = fresh("dropped grüße")
    giving.type(text)
    giving.keys("ctrl+a")
    giving.assert_holds(text)
    desktop.act(
        action="left_click_drag",
        start_coordinate=giving.at(20, giving.kind.first_line),
        coordinate=receiving.at(300, 200),
        duration=1,
        coordinate_space="native",
    )

    def clicked() -> bool:
        # Before the drop is finished, a click belongs to the program that is dragged from.
        receiving.click()
        return receiving.has_keyboard()

    until(clicked, "the focus after the drop", pause=0.1)
    receiving.assert_holds(text)
