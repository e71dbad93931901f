"""Columns of a snapshot as elements."""

from deskhand.desktop.pages.content.snapshot import snapshot_documents
from tests.desktop.pages.snapshots import El, page, snapshot


def test_a_node_has_its_attributes_its_place_and_its_state() -> None:
    field = El("input", {"id": "a"}, box=(1, 2, 3, 4), value="x", checked=True, clickable=True)
    option = El("option", {}, ["One"], selected=True)
    (document,) = snapshot_documents(snapshot(page(field, option), scrolled=7))
    assert document.frame == "F0"
    assert document.scrolled == (0, 7)
    found = document.nodes[2]
    assert (found.tag, found.attributes, found.number) == ("input", {"id": "a"}, 102)
    assert found.box == (1, 2, 4, 6)
    assert (found.value, found.checked, found.clickable) == ("x", True, True)
    assert document.nodes[3].selected
    assert document.nodes[4].text == "One"


def test_other_nodes_have_a_tag_only() -> None:
    data = snapshot(page())
    data["documents"][0]["nodes"]["nodeType"][0] = 9
    (document,) = snapshot_documents(data)
    assert (document.nodes[0].tag, document.nodes[0].attributes) == ("html", {})


def test_what_is_hidden_has_no_place() -> None:
    hidden = El("p", {}, ["x"], visibility="hidden")
    (document,) = snapshot_documents(snapshot(page(hidden)))
    assert document.nodes[2].box is None


def test_parts_of_one_text_are_one_box() -> None:
    data = snapshot(page("text"))
    layout = data["documents"][0]["layout"]
    layout["nodeIndex"] += [2, 99]
    layout["bounds"] += [[50, 30, 100, 20], [0, 0, 1, 1]]
    # Without a style.
    (document,) = snapshot_documents(data)
    assert document.nodes[2].box == (0, 0, 150, 50)


def test_what_a_snapshot_lacks_is_empty() -> None:
    assert snapshot_documents({}) == ()
    (document,) = snapshot_documents({"documents": [{}]})
    assert (document.frame, document.nodes) == ("", [])
