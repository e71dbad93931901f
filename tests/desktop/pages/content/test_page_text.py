"""The visible text of a page."""

from deskhand.desktop.pages.content.page_text import LONGEST, page_text
from tests.desktop.pages.snapshots import El, page, snapshot


def inline(*inner: El | str) -> El:
    return El("span", {}, inner, display="inline")


def cell(*inner: El | str) -> El:
    return El("td", {}, inner, display="table-cell")


def test_blocks_end_lines_and_cells_are_apart() -> None:
    row = El("tr", {}, [cell("Lamp"), cell("12")], display="table-row")
    found = page_text(
        [
            snapshot(
                page(
                    El("p", {}, ["Please ", inline("read this"), " first."]),
                    El("p", {}, ["a", El("br", display="inline"), "b"]),
                    El("script", {}, [El("b", {}, ["no"])]),
                    El("table", {}, [row]),
                    "end",
                )
            )
        ]
    )
    assert found.splitlines() == ["Please read this first.", "a", "b", "Lamp\t12", "end"]


def test_frames_follow_and_hidden_texts_are_left_out() -> None:
    hidden = El("p", {}, ["secret"], box=None)
    first = snapshot(page("outer", hidden), page("inner"))
    assert page_text([first, snapshot(page("other"))]) == "outer\n\ninner\n\nother"


def test_an_article_is_preferred_if_it_has_enough_text() -> None:
    long = El("article", {}, ["word " * 100])
    short = El("main", {}, ["short"])
    assert page_text([snapshot(page("menu", long))]).startswith("word word")
    assert page_text([snapshot(page("menu", short))]).splitlines() == ["menu", "short"]


def test_a_long_text_is_cut_and_an_empty_page_has_none() -> None:
    text = page_text([snapshot(page("x" * (LONGEST + 10)))])
    assert len(text) <= LONGEST
    assert text.endswith("read the rest with read_page]")
    assert page_text([]) == ""
    assert page_text([{"documents": [{"nodes": {"nodeName": [5], "parentIndex": []}}]}]) == ""


def test_parts_of_a_text_are_joined_and_broken_layouts_are_read() -> None:
    data = snapshot(page("ab"))
    layout = data["documents"][0]["layout"]
    layout["nodeIndex"].append(2)
    layout["text"].append(layout["text"][-1])
    assert page_text([data]) == "abab"
    layout["nodeIndex"].append(1)
    assert page_text([data]) == "abab"
