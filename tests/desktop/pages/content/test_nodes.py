"""The tree of a page."""

from deskhand.desktop.pages.content.nodes import DomKey, PageNode, subtree, walk

KEY = DomKey("s", "d", 1)
TREE = PageNode("page", children=(PageNode("a", children=(PageNode("b", key=KEY),)), PageNode("c")))


def test_nodes_are_walked_in_the_order_of_the_page() -> None:
    assert [node.role for node in walk(TREE)] == ["page", "a", "b", "c"]


def test_an_element_is_found_by_its_key() -> None:
    found = subtree(TREE, KEY)
    assert found is not None
    assert found.role == "b"
    assert subtree(TREE, DomKey("s", "d", 2)) is None
