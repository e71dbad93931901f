"""The widget tree as lines of text."""

from typing import Any

from deskhand.desktop.accessibility.lines import LARGEST_PAGE, TextPage, page_of_lines, widget_lines
from deskhand.desktop.geometry import Size

Json = dict[str, Any]

NATIVE, SCALED = Size(1920, 1080), Size(1280, 720)


def widget(role: str, name: str = "", *children: Json, states: tuple[str, ...] = ()) -> Json:
    entry: Json = {"role": role, "ref": "e1", "rectangle": [30, 60, 90, 120]}
    entry |= {"name": name} if name else {}
    entry |= {"states": list(states)} if states else {}
    return entry | ({"children": list(children)} if children else {})


def lines(*children: Json, interactive: bool = False) -> list[str]:
    root = {"role": "application", "name": "App", "children": list(children)}
    first, *rest = widget_lines([root], NATIVE, SCALED, interactive=interactive)
    assert first == 'application "App"'
    return rest


def test_a_line_has_role_name_ref_point_and_states() -> None:
    assert lines(widget("button", "Send", states=("focused", "disabled"))) == [
        'button "Send" [e1] 40,60 focused disabled'
    ]


def test_a_name_is_one_line_and_cannot_end_early() -> None:
    assert lines(widget("heading", 'a "b"\n  c'))[0].startswith("heading \"a 'b' c\" [e1]")


def test_a_container_without_a_name_has_no_line_but_its_content_has() -> None:
    assert lines(widget("table", "", widget("table cell", "1"))) == ['table cell "1" [e1] 40,60']


def test_of_nested_widgets_of_one_name_the_interactive_one_has_the_line() -> None:
    cell = widget("table cell", "Go", widget("panel", "Go", widget("button", "Go")))
    assert lines(cell) == ['button "Go" [e1] 40,60']
    assert lines(widget("button", "Go", widget("label", "Go"))) == ['button "Go" [e1] 40,60']


def test_of_nested_texts_of_one_name_the_outermost_has_the_line() -> None:
    assert lines(widget("paragraph", "Hi", widget("label", "Hi"))) == ['paragraph "Hi" [e1] 40,60']


def test_only_what_takes_clicks_or_keys_is_listed_on_request() -> None:
    editable = widget("document text", "", states=("editable",))
    found = lines(widget("heading", "Top"), widget("entry"), editable, interactive=True)
    assert found == ["entry [e1] 40,60", "document text [e1] 40,60 editable"]


def test_a_widget_without_a_visible_part_has_no_point() -> None:
    assert lines({"role": "button", "name": "Hidden"}) == ['button "Hidden"']


def test_a_page_ends_before_the_line_that_does_not_fit() -> None:
    assert page_of_lines(["aaaa", "bbbb", "cc"], 0, 10) == TextPage("aaaa\nbbbb", 3, 2)
    assert page_of_lines(["aaaa", "bbbb", "cc"], 2, 10) == TextPage("cc", 3, None)
    assert page_of_lines([], 0) == TextPage("", 0, None)


def test_a_line_that_is_longer_than_a_page_is_cut() -> None:
    assert page_of_lines(["a" * 12, "b"], 0, 10) == TextPage("a" * 10, 2, 1)
    assert LARGEST_PAGE == 50_000
