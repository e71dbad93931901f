"""Members that change a page or the tabs, other than by mouse and keyboard."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from deskhand.desktop.files.errors import FileError
from deskhand.desktop.network.refused_page import TITLE

from .destination import REFUSED, destination, file_of
from .errors import BrowserCallFailed, PageRequestFailed, PageSilent
from .members import BrowserCall
from .ports import PagesDesktop
from .scripts import EVALUATE, FILL
from .tab import BrowserTab
from .tabs import MOST_TABS, BrowserTabs

Json = dict[str, Any]

LOAD_SECONDS = 15.0
CLOSE_SECONDS = 3.0
SCRIPT_MS = 5_000
LONGEST_VALUE = 20_000
LONGEST_ERROR = 2_000
SCRIPT_FAILED = "script_failed"


class PageChanges:
    """Performs these members; each returns the text for the model."""

    def __init__(self, desktop: PagesDesktop, tabs: BrowserTabs) -> None:
        self._desktop = desktop
        self._tabs = tabs

    async def perform(self, call: BrowserCall, tab: BrowserTab) -> str:
        """Perform a member that acts in a tab, but `form_input`."""
        match call.name:
            case "navigate":
                return await self.navigate(call, tab)
            case "switch_tab":
                return await self.switch_tab(tab)
            case "close_tab":
                return await self.close_tab(tab)
            case "scroll_to":
                return await self.scroll_to(call, tab)
            case "file_upload":
                return await self.file_upload(call, tab)
        return await self.javascript_exec(call, tab)

    async def navigate(self, call: BrowserCall, tab: BrowserTab) -> str:
        """Open an address, or another page of the tab's history; return when it has loaded."""
        wanted = destination(call.fields["url"])
        await self._check_file(wanted)
        if wanted != "reload":
            tab.check_readable()
        tab.loaded.clear()
        tab.http_status = None
        try:
            refused = await self._go(tab, wanted)
        except PageSilent:
            # A page may ask whether it may be left.
            tab.check_readable()
            raise
        loaded = True
        try:
            if not refused:
                async with asyncio.timeout(LOAD_SECONDS):
                    await tab.loaded.wait()
        except TimeoutError:
            loaded = False
        await self._refresh()
        address = self._tabs.address(tab)
        for one in (wanted, address):
            if sentences := self._desktop.refusal(one, bool(refused)):
                raise BrowserCallFailed(403, " ".join(sentences), REFUSED)
        if self._tabs.title(tab) == TITLE:
            raise BrowserCallFailed(403, f"{TITLE}: {address}", REFUSED)
        if refused:
            raise BrowserCallFailed(502, f"{address or wanted} cannot be opened: {refused}.")
        tab.check_readable()
        end = "" if loaded else f" It still loads after {LOAD_SECONDS:g} s."
        status = "" if tab.http_status is None else f" (HTTP {tab.http_status})"
        return f'Opened "{self._tabs.title(tab)}", {address}{status}.{end}'

    async def new_tab(self) -> str:
        """Open an empty tab."""
        if len(self._tabs.ids) >= MOST_TABS:
            raise BrowserCallFailed(409, f"{MOST_TABS} tabs are open: close one first.")
        requests = await self._refresh()
        answer = await requests.ask("Target.createTarget", {"url": "about:blank"})
        await self._refresh()
        tab = self._tabs.by_target(str(answer["targetId"]))
        if tab is None:
            raise BrowserCallFailed(409, "The new tab was closed at once.")
        self._tabs.use(tab)
        return f"Opened tab {tab.id}, which is active now."

    async def switch_tab(self, tab: BrowserTab) -> str:
        """Show a tab."""
        await tab.bring_to_front()
        self._tabs.use(tab)
        return f"Tab {tab.id} is active now."

    async def close_tab(self, tab: BrowserTab) -> str:
        """Close a tab; the last one is replaced by an empty one, as the browser would end."""
        requests = await self._refresh()
        if len(self._tabs.ids) == 1:
            await requests.ask("Target.createTarget", {"url": "about:blank"})
        await requests.ask("Target.closeTarget", {"targetId": tab.target})
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await tab.closed.wait()
        if not tab.closed.is_set():
            tab.check_readable()
            raise BrowserCallFailed(409, f"Tab {tab.id} does not close.")
        await self._refresh()
        return f"Closed tab {tab.id}."

    async def scroll_to(self, call: BrowserCall, tab: BrowserTab) -> str:
        """Scroll an element into view."""
        ref = call.fields["target"].ref
        await tab.quads(ref, self._tabs.refs.find(ref, tab.id))
        return f"{ref} is in view."

    async def form_input(self, call: BrowserCall, tab: BrowserTab) -> Json:
        """Set the value of a form element; the answer marks a value that people must not see."""
        ref, value = call.fields["target"].ref, call.fields["value"]
        key = self._tabs.refs.find(ref, tab.id)
        element = await tab.resolved(ref, key)
        with suppress(PageRequestFailed):
            await tab.ask("DOM.scrollIntoViewIfNeeded", {"backendNodeId": key.node}, key.session)
        wanted = {
            "objectId": element,
            "functionDeclaration": FILL,
            "arguments": [{"value": value}],
            "returnByValue": True,
            "userGesture": True,
        }
        answer = await tab.ask("Runtime.callFunctionOn", wanted, key.session)
        done = answer.get("result", {}).get("value") or {}
        if "error" in done or "exceptionDetails" in answer:
            reason = str(done.get("error") or "the page refused it")[:LONGEST_ERROR]
            raise BrowserCallFailed(422, f"{ref} was not changed: {reason}.")
        if done.get("secret"):
            length = len(str(value))
            return {"text": f"Set {ref}.", "told_value": f"{length} characters"}
        return {"text": f"Set {ref} to {json.dumps(str(done.get('done'))[:500])}."}

    async def file_upload(self, call: BrowserCall, tab: BrowserTab) -> str:
        """Give files to a file input, with the rights of the agent."""
        ref, paths = call.fields["target"].ref, call.fields["paths"]
        key = self._tabs.refs.find(ref, tab.id)
        await tab.check_current(ref, key)
        try:
            for path in paths:
                self._check_root(path)
            copies = await self._desktop.uploads.copied(paths, self._desktop.home())
        except FileError as error:
            raise BrowserCallFailed(403, f"No file was given to the page: {error}.") from error
        given = {"files": copies, "backendNodeId": key.node}
        try:
            await tab.ask("DOM.setFileInputFiles", given, key.session)
        except PageRequestFailed as error:
            raise BrowserCallFailed(422, f"{ref} takes no files: {error}.") from error
        names = ", ".join(Path(path).name for path in paths)
        return f"{ref} has {len(copies)} file{'s' if len(copies) > 1 else ''}: {names}."

    async def javascript_exec(self, call: BrowserCall, tab: BrowserTab) -> str:
        """Run code as the page; its value is cut, and its time limited."""
        tab.check_readable()
        code = f"{EVALUATE}({json.dumps(call.fields['text'])}, {LONGEST_VALUE})"
        wanted = {
            "expression": code,
            "awaitPromise": True,
            "returnByValue": True,
            "userGesture": True,
            "timeout": SCRIPT_MS,
        }
        try:
            answer = await tab.ask("Runtime.evaluate", wanted)
        except PageSilent as error:
            tab.check_readable()
            raise BrowserCallFailed(
                504, f"The script did not end: {error}.", SCRIPT_FAILED
            ) from error
        except PageRequestFailed as error:
            # The browser answers a script that it stops with an internal error.
            text = f"The script failed, or ran for {SCRIPT_MS / 1000:g} s: {error}"
            raise BrowserCallFailed(422, text, SCRIPT_FAILED) from error
        details = answer.get("exceptionDetails")
        if details is not None:
            thrown = (details.get("exception") or {}).get("description") or details.get("text")
            text = f"The script failed: {str(thrown)[:LONGEST_ERROR]}"
            raise BrowserCallFailed(422, text, SCRIPT_FAILED)
        # A page may replace what cuts the text.
        return str(answer.get("result", {}).get("value"))[: LONGEST_VALUE + 100]

    async def _go(self, tab: BrowserTab, wanted: str) -> str:
        """Begin a navigation; return why the browser refuses it, or an empty text."""
        if wanted == "reload":
            await tab.ask("Page.reload")
            return ""
        if wanted in ("back", "forward"):
            history = await tab.ask("Page.getNavigationHistory")
            index = history["currentIndex"] + (1 if wanted == "forward" else -1)
            if not 0 <= index < len(history["entries"]):
                raise BrowserCallFailed(409, f"There is no page to go {wanted} to.")
            entry = {"entryId": history["entries"][index]["id"]}
            await tab.ask("Page.navigateToHistoryEntry", entry)
            return ""
        answer = await tab.ask("Page.navigate", {"url": wanted})
        if "loaderId" not in answer:
            # Within the same document nothing is loaded.
            tab.loaded.set()
        refused = str(answer.get("errorText") or "")
        # An answer that is saved as a file instead of shown.
        return "" if refused == "net::ERR_ABORTED" else refused

    async def _refresh(self) -> Any:
        pipe = self._desktop.pipe()
        if pipe is None:
            raise PageSilent("the browser has ended")
        return await self._tabs.refresh(pipe)

    async def _check_file(self, address: str) -> None:
        """Check that the agent may read the file of an address; the browser may read others."""
        file = file_of(address)
        if file is None:
            return
        self._check_root(str(file))
        try:
            await self._desktop.uploads.check_readable(Path(file))
        except FileError as error:
            raise BrowserCallFailed(403, f"{address} is not opened: {error}.", REFUSED) from error

    def _check_root(self, path: str) -> None:
        roots = self._desktop.roots
        whole = self._desktop.home() / path
        inside = ".." not in whole.parts and any(whole.is_relative_to(root) for root in roots)
        if roots and not inside:
            text = f"{path} is outside of the trees that may be read."
            raise BrowserCallFailed(403, text, REFUSED)
