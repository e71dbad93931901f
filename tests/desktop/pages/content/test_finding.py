"""Search for elements by a description."""

import pytest

from deskhand.desktop.pages.content.finding import MOST_MATCHES, found, match_lines
from deskhand.desktop.pages.content.nodes import TEXT, DomKey, PageNode


def element(number: int, role: str, name: str, *children: PageNode, value: str = "") -> PageNode:
    interactive = role in ("button", "link", "textbox", "checkbox", "combobox")
    key = DomKey("s", "d", number)
    return PageNode(role, name, key, value=value, interactive=interactive, children=children)


ROWS = tuple(
    element(10 * row, "row", f"{name} | Approve", element(10 * row + 1, "button", "Approve"))
    for row, name in ((1, "Lamp"), (2, "Chair"))
)
PAGE = PageNode(
    "page",
    children=(
        element(1, "heading", "Orders of the week"),
        PageNode(TEXT, "Colour"),
        element(2, "combobox", "", value="Red"),
        element(3, "textbox", "Customer"),
        element(4, "button", "Ajouter au panier é"),
        element(5, "link", "Search history"),
        element(6, "textbox", "Search"),
        element(7, "checkbox", "Express"),
        *ROWS,
    ),
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("the customer field", 3),
        ("custmer", 3),
        ("search box", 6),
        ("search link", 5),
        ("colour dropdown", 2),
        ("approve chair", 21),
        ("approve button of the lamp", 11),
        ("button e", 4),
        ("orders heading", 1),
        ("checkbox", 7),
        ("red", 2),
        ("customers", 3),
        ("cat express", 7),
        ("this", None),
        ("", None),
        ("nothing of the kind", None),
    ],
)
def test_the_best_match_comes_first(query: str, first: int | None) -> None:
    matches = found(PAGE, query)
    keys = [one.node.key.node for one in matches if one.node.key is not None]
    assert (keys[0] if keys else None) == first


def test_at_most_so_many_are_returned_in_the_order_of_the_page() -> None:
    many = PageNode("page", children=tuple(element(n, "button", "Buy") for n in range(50)))
    matches = found(many, "buy")
    assert [one.node.key and one.node.key.node for one in matches] == [*range(MOST_MATCHES)]


def test_a_match_is_one_line_with_its_ref_and_the_text_near_it() -> None:
    lines = match_lines(found(PAGE, "chair approve")[:2], lambda key: f"ref_{key.node}")
    assert lines.splitlines() == [
        'button "Approve" [ref_21] near "Chair | Approve"',
        'row "Chair | Approve" [ref_20] near "Lamp | Approve"',
    ]
    assert match_lines(found(PAGE, "orders"), str).startswith('heading "Orders of the week"')
