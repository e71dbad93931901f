"""Members that read a page: its tree, its text, a search in it, its console and its requests."""

from .content.finding import found, match_lines
from .content.formatting import PageFilter, page_lines
from .content.nodes import PageNode, subtree
from .content.page_text import page_text
from .content.page_tree import page_tree
from .content.refs import RefTable, stale
from .members import USUAL_DEPTH, BrowserCall
from .tab import BrowserTab


class PageReader:
    """Reads pages; the refs that it returns are kept in a table."""

    async def read_page(self, call: BrowserCall, tab: BrowserTab, refs: RefTable) -> str:
        """Return the tree of a page, or of one element of it."""
        fields = call.fields
        key = None if "ref" not in fields else refs.find(fields["ref"], tab.id)
        if key is not None:
            await tab.check_current(fields["ref"], key)
        root = await self._tree(tab)
        if key is not None:
            part = subtree(root, key)
            if part is None:
                raise stale(fields["ref"], tab.id, "the page has removed its element")
            root = part
        wanted = PageFilter(
            interactive=fields.get("filter") == "interactive",
            depth=fields.get("depth", USUAL_DEPTH),
            in_view="filter" not in fields and key is None,
        )
        text = page_lines(root, wanted, lambda one: refs.ref(tab.id, one))
        return text or "(there is nothing of this kind on the page)"

    async def find(self, call: BrowserCall, tab: BrowserTab, refs: RefTable) -> str:
        """Return the elements that fit a description, each with its ref."""
        matches = found(await self._tree(tab), call.fields["query"])
        if not matches:
            return "No element fits. Use other words, or read_page."
        return match_lines(matches, lambda one: refs.ref(tab.id, one))

    async def text(self, tab: BrowserTab) -> str:
        """Return the visible text of a page."""
        return page_text([one.snapshot for one in await tab.captures()]) or "(the page has no text)"

    @staticmethod
    def console(tab: BrowserTab) -> str:
        """Return what the page wrote since the last read."""
        return tab.traffic.read_console() or "(nothing since the last read)"

    @staticmethod
    def network(tab: BrowserTab) -> str:
        """Return the requests since the last read."""
        return tab.traffic.read_network() or "(nothing since the last read)"

    async def _tree(self, tab: BrowserTab) -> PageNode:
        return page_tree(await tab.captures())
