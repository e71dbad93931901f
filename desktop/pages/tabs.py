"""The tabs of the browser that runs: attached, named, and the one that is active.

A tab's id stays the same while it is open. The active tab is the one that a window shows; with
several windows, the one that a call used last. Another start of the browser has other tabs.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from .content.refs import RefTable
from .errors import BrowserCallFailed, PageRequestFailed, PageSilent
from .page_requests import BrowserPipe, PageRequests
from .tab import PRINT, BrowserTab, PageDialog

Json = dict[str, Any]

MOST_TABS = 50
UNKNOWN_TAB = "unknown_tab"
_PRINTING = "chrome://print/"
_DOWNLOADS = {"behavior": "default", "eventsEnabled": True}


class BrowserTabs:
    """Tabs of one desktop; ``is_private`` returns True while a person works in private."""

    def __init__(self, is_private: Callable[[], bool]) -> None:
        self._is_private = is_private
        self._requests: PageRequests | None = None
        self._tabs: dict[str, BrowserTab] = {}
        self._facts: dict[str, Json] = {}
        self._downloads: dict[str, Json] = {}
        self._urls: dict[str, str] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._last = 0
        self._used = ""
        self.refs = RefTable()

    async def refresh(self, pipe: BrowserPipe) -> PageRequests:
        """Attach to all tabs that are open now; return the client of the pipe.

        Raises:
            PageSilent: If the browser does not answer.
        """
        requests = self._requests
        if requests is None or requests.pipe is not pipe:
            requests = await self._join(pipe)
        infos = (await requests.ask("Target.getTargets"))["targetInfos"]
        pages = {str(one["targetId"]): one for one in infos if _is_page(one)}
        for target in [one for one in self._tabs if one not in pages]:
            self.refs.forget(self._tabs.pop(target).id)
        for target in pages:
            if target not in self._tabs:
                await self._attach(requests, target)
        self._facts = {target: one for target, one in pages.items() if target in self._tabs}
        self._note_printing([str(one.get("title")) for one in infos if _is_print_dialog(one)])
        return requests

    def _note_printing(self, titles: list[str]) -> None:
        """Note which tabs show the dialog for printing, a page that has the title of its tab."""
        for title in titles:
            tabs = [tab for tab in self._tabs.values() if self.title(tab) == title]
            used = [tab for tab in tabs if tab.id == self._used]
            for tab in (used or tabs)[-1:]:
                tab.dialog = tab.dialog or PageDialog(PRINT, "")
        for tab in self._tabs.values():
            if not titles and tab.dialog is not None and tab.dialog.kind == PRINT:
                tab.dialog = None

    async def tab(self, tab_id: str | None) -> BrowserTab:
        """Return a tab by its id, or the active one.

        Raises:
            BrowserCallFailed: If there is none.
        """
        if tab_id is None:
            return await self.active()
        for tab in self._tabs.values():
            if tab.id == tab_id:
                return tab
        listed = ", ".join(tab.id for tab in self._tabs.values()) or "none"
        text = f"There is no tab {tab_id!r}, perhaps it was closed; open are: {listed}."
        raise BrowserCallFailed(404, text, UNKNOWN_TAB)

    async def active(self) -> BrowserTab:
        """Return the tab that the browser's window shows."""
        tabs = [*self._tabs.values()]
        if not tabs:
            raise BrowserCallFailed(404, "The browser has no tab: open one with new_tab.")
        shown = await asyncio.gather(*(tab.is_visible() for tab in tabs))
        visible = [tab for tab, is_shown in zip(tabs, shown, strict=True) if is_shown]
        used = [tab for tab in visible or tabs if tab.id == self._used]
        # Of several windows without a used tab, the newest is in front.
        return used[0] if used else (visible or tabs)[-1]

    def use(self, tab: BrowserTab) -> None:
        """Note that a call has shown a tab."""
        self._used = tab.id

    def by_target(self, target: str) -> BrowserTab | None:
        """Return the tab of a target that is attached."""
        return self._tabs.get(target)

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the tabs that are open."""
        return frozenset(tab.id for tab in self._tabs.values())

    def address(self, tab: BrowserTab) -> str:
        """Return the address of a tab, as of the last `refresh`."""
        return str(self._facts.get(tab.target, {}).get("url", ""))

    def title(self, tab: BrowserTab) -> str:
        """Return the title of a tab, as of the last `refresh`."""
        return str(self._facts.get(tab.target, {}).get("title", ""))

    async def state(self, before: frozenset[str]) -> Json:
        """Return all tabs, and what has changed: tabs opened since ``before``, and downloads."""
        active = (await self.active()).id if self._tabs else ""
        tabs = [
            {
                "tab_id": tab.id,
                "title": self.title(tab)[:300],
                "url": self.address(tab)[:2000],
                **({"active": True} if tab.id == active else {}),
                **({} if tab.dialog is None else {"dialog": tab.dialog.facts()}),
            }
            for tab in self._tabs.values()
        ]
        opened = [
            {"type": "tab_opened", "tab_id": tab.id}
            for tab in self._tabs.values()
            if tab.id not in before
        ]
        changes = [*opened, *self._downloads.values()]
        self._downloads = {}
        return {"tabs": tabs} | ({"state_changes": changes} if changes else {})

    async def close(self) -> None:
        """Leave the pipe."""
        requests, self._requests = self._requests, None
        if requests is not None:
            await requests.close()

    async def _join(self, pipe: BrowserPipe) -> PageRequests:
        await self.close()
        self._tabs, self._facts, self._downloads, self._urls = {}, {}, {}, {}
        self.refs = RefTable()
        requests = PageRequests(pipe, self._received)
        try:
            await requests.open()
            await requests.ask("Browser.setDownloadBehavior", _DOWNLOADS)
        except (PageRequestFailed, PageSilent):
            await requests.close()
            raise
        self._requests = requests
        return requests

    async def _attach(self, requests: PageRequests, target: str) -> None:
        wanted = {"targetId": target, "flatten": True}
        try:
            session = str((await requests.ask("Target.attachToTarget", wanted))["sessionId"])
        except PageRequestFailed:
            # It has gone since it was listed.
            return
        self._last += 1
        tab = self._tabs[target] = BrowserTab(f"t{self._last}", target, session, requests)
        await tab.prepare()

    def _received(self, method: str, parameters: Json, session: str) -> None:
        if method.startswith("Browser.download"):
            self._download(method, parameters)
        if method == "Target.detachedFromTarget":
            for tab in self._tabs.values():
                if tab.session == parameters.get("sessionId"):
                    tab.closed.set()
        for tab in self._tabs.values():
            if tab.owns(session):
                private = self._is_private()
                tab.received(method, parameters, session, self._spawn, private=private)
                return

    def _download(self, method: str, parameters: Json) -> None:
        if self._is_private():
            return
        name = str(parameters.get("guid"))
        if method == "Browser.downloadWillBegin":
            self._urls[name] = str(parameters.get("url"))[:2000]
        change: Json = {"download_id": name, "url": self._urls.get(name, "")}
        match parameters.get("state"):
            case "completed":
                size = parameters.get("receivedBytes")
                path = parameters.get("filePath")
                change |= {"type": "download_completed"}
                change |= {"path": path} if path else {}
                change |= {"size_bytes": int(size)} if isinstance(size, int | float) else {}
            case "canceled":
                change |= {"type": "download_failed", "error": "cancelled"}
            case None:
                change |= {"type": "download_started"}
            case _:
                return
        # One change for each download: the newest.
        self._downloads[name] = change

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)


def _is_page(info: Json) -> bool:
    hidden = ("devtools:", _PRINTING)
    return info.get("type") == "page" and not str(info.get("url")).startswith(hidden)


def _is_print_dialog(info: Json) -> bool:
    return info.get("type") == "page" and str(info.get("url")).startswith(_PRINTING)
