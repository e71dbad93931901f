"""Text of a page's tree."""

from deskhand.desktop.pages.content.formatting import LONGEST, PageFilter, page_lines
from deskhand.desktop.pages.content.nodes import TEXT, DomKey, PageNode


def key(number: int) -> DomKey:
    return DomKey("s", "d", number)


def ref(one: DomKey) -> str:
    return f"ref_{one.node}"


SEND = PageNode("button", "Send", key(1), states=("disabled",), interactive=True)
LINK = PageNode("link", "More", key(2), url="/more", interactive=True, in_view=False)
FIELD = PageNode("textbox", "Name", key(3), value="Ada", description="full", interactive=True)
ROOT = PageNode(
    "page",
    children=(PageNode("form", key=key(4), children=(SEND, FIELD)), LINK, PageNode(TEXT, "End")),
)


def test_each_element_is_one_line() -> None:
    assert page_lines(ROOT, PageFilter(), ref).splitlines() == [
        "page",
        " form [ref_4]",
        '  button "Send" (disabled) [ref_1]',
        '  textbox "Name" value="Ada" described="full" [ref_3]',
        ' link "More" url=/more [ref_2]',
        ' "End"',
    ]


def test_filters_leave_lines_out() -> None:
    found = page_lines(ROOT, PageFilter(interactive=True), ref).splitlines()
    assert [line.split()[0] for line in found] == ["button", "textbox", "link"]
    assert "More" not in page_lines(ROOT, PageFilter(in_view=True), ref)


def test_what_is_deeper_is_counted() -> None:
    found = page_lines(ROOT, PageFilter(depth=2), ref).splitlines()
    assert found[-1] == "[2 elements are deeper: read them with ref or a larger depth]"
    assert len(found) == 5


def test_a_long_page_is_cut() -> None:
    texts = tuple(PageNode(TEXT, "x" * 400) for _ in range(300))
    text = page_lines(PageNode("page", children=texts), PageFilter(), ref)
    assert len(text) <= LONGEST
    assert text.splitlines()[-1].startswith("[cut at 50,000 characters")
    assert text.splitlines()[1].endswith('…"')
