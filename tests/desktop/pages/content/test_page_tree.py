"""The tree of a page from snapshots."""

from deskhand.desktop.pages.content.nodes import TEXT, DomKey, PageNode, walk
from deskhand.desktop.pages.content.page_tree import DEEPEST_FRAME, PageCapture, page_tree
from tests.desktop.pages.snapshots import El, Json, page, snapshot

SIZE = (800.0, 600.0)


def capture(
    data: Json,
    session: str = "S",
    owner: tuple[str, int] | None = None,
    size: tuple[float, float] = SIZE,
) -> PageCapture:
    loaders = {f"F{number}": f"L{number}" for number in range(9)}
    return PageCapture(session, data, loaders, size, owner)


def tree(*inner: El | str, scrolled: float = 0) -> PageNode:
    return page_tree([capture(snapshot(page(*inner), scrolled=scrolled))])


def shown(root: PageNode) -> list[str]:
    """Return role and name of each node below the page."""
    return [f"{one.role} {one.name}".strip() for one in walk(root) if one is not root]


def test_what_only_contains_others_is_left_out() -> None:
    root = tree(
        El("div", {}, [El("h1", {}, ["Orders"]), El("p", {}, ["Two  of", El("b", {}, ["them"])])])
    )
    assert shown(root) == ["heading Orders", "text Two of", "text them"]
    assert root.children[0].key == DomKey("S", "L0", 103)


def test_what_is_not_painted_is_left_out() -> None:
    gone = El("button", {}, ["Gone"], box=None)
    assert shown(tree(gone, El("script", {}, ["x"]), El("p", {}, [" "]))) == []


def test_options_of_a_closed_list_are_kept_up_to_a_limit() -> None:
    options = [
        El("option", {}, [f"N{number}"], box=None, selected=number == 1) for number in range(45)
    ]
    root = tree(El("select", {}, [El("optgroup", {}, options)]))
    (found,) = root.children
    assert (found.role, found.value) == ("combobox", "N1")
    assert len(found.children) == 41
    assert found.children[1].states == ("selected",)
    assert found.children[-1] == PageNode(TEXT, "… and 5 more options")


def test_names_come_from_labels_and_are_not_repeated() -> None:
    root = tree(
        El("label", {"for": "a"}, ["Name"]),
        El("input", {"id": "a"}),
        El("label", {}, [El("span", {}, ["Age"]), El("div", {}, [El("input")])]),
        El("label", {}, ["Lonely"]),
        El("span", {"id": "b"}, ["Size"]),
        El("input", {"aria-labelledby": "b missing"}),
        El("input", {"title": "none"}),
    )
    assert shown(root) == [
        *("textbox Name", "textbox Age", "text Lonely", "text Size", "textbox Size"),
        "textbox none",
    ]


def test_a_row_is_named_by_its_cells() -> None:
    cells = [
        El("td", {}, ["Lamp"]),
        El("td", {}, [El("img", {"alt": "ok"}), El("button", {}, ["Buy"])]),
    ]
    root = tree(El("table", {}, [El("tr", {}, cells)]))
    assert shown(root) == ["table", "row Lamp | ok Buy", "image ok", "button Buy"]


def test_what_is_out_of_view_is_marked() -> None:
    near, far = El("button", {}, ["Near"]), El("button", {}, ["Far"], box=(0, 900, 10, 10))
    empty = El("button", {}, ["Empty"], box=(0, 0, 0, 0))
    assert [one.in_view for one in tree(near, far, empty).children] == [True, False, False]
    assert [one.in_view for one in tree(near, far, scrolled=500).children] == [False, True]


def test_frames_are_below_their_elements() -> None:
    inner = page(
        El("button", {}, ["Inner"], box=(0, 0, 10, 10)),
        El("button", {}, ["Cut"], box=(0, 90, 9, 9)),
    )
    frame = El("iframe", {}, box=(0, 550, 100, 80), frame=1)
    root = page_tree([capture(snapshot(page(frame), inner))])
    assert shown(root) == ["iframe", "button Inner", "button Cut"]
    (found,) = root.children
    assert found.children[0].key == DomKey("S", "L1", 102)
    assert [one.in_view for one in found.children] == [True, False]


def test_frames_of_other_processes_are_below_their_elements() -> None:
    outer = snapshot(page(El("iframe", {}, box=(0, 0, 100, 80))))
    inner = snapshot(page(El("button", {}, ["Inner"])))
    root = page_tree([capture(outer), capture(inner, "T", ("S", 102)), capture(inner, "U")])
    assert shown(root) == ["iframe", "button Inner"]
    assert root.children[0].children[0].key == DomKey("T", "L0", 102)


def test_frames_that_contain_themselves_end() -> None:
    frame = El("iframe", {}, frame=1)
    data = snapshot(page(frame), page(frame))
    assert len(shown(page_tree([capture(data)]))) == DEEPEST_FRAME + 1


def test_a_process_that_shows_itself_ends() -> None:
    data = snapshot(page(El("iframe", {})))
    captures = [capture(data, "S0")]
    captures += [capture(data, f"S{one + 1}", (f"S{one}", 102)) for one in range(DEEPEST_FRAME + 3)]
    assert len(shown(page_tree(captures))) == DEEPEST_FRAME + 1
    assert page_tree([capture({})]).children == ()


def test_a_page_may_nest_as_deep_as_it_likes() -> None:
    deep: El | str = "end"
    for _ in range(300):
        deep = El("section", {}, [deep])
    assert shown(tree(deep)) == ["text end"]


def test_a_field_without_a_label_has_no_name() -> None:
    deep: El | str = El("input")
    for _ in range(7):
        deep = El("div", {}, [deep])
    assert shown(tree(deep)) == ["textbox"]
    assert shown(page_tree([capture(snapshot(El("input")))])) == ["textbox"]
