"""The browser toolset of one desktop: calls of its members, on the visible browser.

A call goes through these steps:

1. `member_call` checks its input, before anything is done.
2. The browser is launched if none runs, and all its tabs are attached over the debugging pipe,
   which `desktop/browser` owns; there is no port.
3. A member is read, changed or used, by its kind (`members.MEMBERS`). Input is sent to the screen
   by the desktop's own route; changes need the right to act, and become steps of the recording.
   Everything needs the right to see the screen, before and after: a private take-over hides pages.
4. The answer has the text for the model, and all tabs with what changed (``browser_state``).

Calls of one desktop follow one another. Known secrets are masked in every text that is returned.
"""

import asyncio
from contextlib import nullcontext
from typing import Any

from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.own_api.own_api import ApiCaller

from .changes import PageChanges
from .content.formatting import shortened
from .errors import BrowserCallFailed, PageRequestFailed, PageSilent
from .members import MEMBERS, BrowserCall, PageRef
from .page_requests import BrowserPipe
from .ports import PagesDesktop
from .reading import PageReader
from .screen_use import ScreenUse
from .tab import BrowserTab
from .tabs import BrowserTabs

Json = dict[str, Any]

LAUNCH = "/api/v0/desktop/launch"
NO_BROWSER = "no_browser"
ENDING_PAUSE, ENDING_PAUSES = 0.1, 30
"""Seconds between two reads of the tabs of a browser that has none, and their number."""
_PICTURES = ("screenshot", "zoom")
_SHOWN = ("form_input", "scroll_to", "file_upload", "javascript_exec")
"""Changes of a page that people see as they are made."""
LONGEST_TITLE = 200


class BrowserPages:
    """Performs the calls of one desktop."""

    def __init__(self, desktop: PagesDesktop) -> None:
        self._desktop = desktop
        self._tabs = BrowserTabs(lambda: desktop.lease.private)
        self._reader = PageReader()
        self._changes = PageChanges(desktop, self._tabs)
        self._screen = ScreenUse(desktop, self._tabs)
        self._lock = asyncio.Lock()

    def check(self, call: BrowserCall, chat: str) -> None:
        """Check that a chat may make a call now. Raises ``Occupied``."""
        self._desktop.lease.check_view()
        if MEMBERS[call.name].kind != "read":
            self._desktop.lease.check_act(chat)

    async def call(self, call: BrowserCall, caller: ApiCaller) -> Json:
        """Perform a call for a client.

        Raises:
            BrowserCallFailed: If it fails; the text is for the model.
            DesktopRefused: If the desktop's own routes refuse it.
            Occupied: If a person is in control, or another chat.
        """
        self._desktop.lease.check_view()
        async with self._lock:
            try:
                found = await self._performed(call, caller)
            except PageSilent as error:
                text = f"The page does not answer ({error}): try again, or navigate elsewhere."
                raise BrowserCallFailed(504, self._desktop.redact(text)) from error
            except PageRequestFailed as error:
                text = f"The browser refuses {call.name}: {error}"
                raise BrowserCallFailed(502, self._desktop.redact(text)) from error
            except BrowserCallFailed as error:
                self._desktop.lease.check_view()
                message = self._desktop.redact(error.message)
                raise BrowserCallFailed(error.status, message, error.code) from error
        # A person may have taken control in private meanwhile.
        self._desktop.lease.check_view()
        masked: Json = _masked(found, self._desktop)
        return masked

    async def close(self) -> None:
        """Leave the browser's pipe."""
        await self._tabs.close()

    async def _performed(self, call: BrowserCall, caller: ApiCaller) -> Json:
        await self._ready(caller)
        before = self._tabs.ids
        kind = MEMBERS[call.name].kind
        if kind == "input":
            found = await self._screen.act(call, await self._tabs.tab(call.tab), caller)
        else:
            held = nullcontext() if kind == "read" else self._desktop.lease.acting(caller.chat_id)
            with held:
                title = self._desktop.redact(_title(call))
                step = caller.step(f"browser.{call.name}", title)
                with step:
                    found = await self._result(call)
        now = self._desktop.pipe()
        if now is not None:
            await self._tabs.refresh(now)
        return {**found, "browser_state": await self._tabs.state(before)}

    async def _result(self, call: BrowserCall) -> Json:
        if call.name == "new_tab":
            return {"text": await self._changes.new_tab()}
        if call.name == "list_tabs":
            return {"text": f"{len(self._tabs.ids)} tabs are open."}
        tab = await self._tabs.tab(call.tab)
        if call.name in _PICTURES:
            return await self._screen.picture(call, tab)
        if call.name in _SHOWN:
            await self._screen.show(tab)
        if call.name == "form_input":
            return await self._changes.form_input(call, tab)
        found: Json = {"text": await self._text(call, tab)}
        if call.name == "navigate" and tab.http_status is not None:
            found["http_status"] = tab.http_status
        return found

    async def _text(self, call: BrowserCall, tab: BrowserTab) -> str:
        refs = self._tabs.refs
        match call.name:
            case "read_page":
                return await self._reader.read_page(call, tab, refs)
            case "find":
                return await self._reader.find(call, tab, refs)
            case "get_page_text":
                return await self._reader.text(tab)
            case "read_console":
                return self._reader.console(tab)
            case "read_network":
                return self._reader.network(tab)
        return await self._changes.perform(call, tab)

    async def _ready(self, caller: ApiCaller) -> None:
        """Attach to all tabs of the browser; launch it again if it ends meanwhile."""
        for last in (False, True):
            pipe = await self._running(caller)
            try:
                requests = await self._tabs.refresh(pipe)
                for _ in range(ENDING_PAUSES):
                    if self._tabs.ids:
                        return
                    # Without a tab it ends, as after its last window was closed.
                    await asyncio.sleep(ENDING_PAUSE)
                    requests = await self._tabs.refresh(pipe)
                await requests.ask("Target.createTarget", {"url": "about:blank"})
                await self._tabs.refresh(pipe)
            except PageSilent:
                if last or not pipe.closed:
                    raise
            else:
                return

    async def _running(self, caller: ApiCaller) -> BrowserPipe:
        """Return the pipe of the browser that runs; launch one if none does."""
        found = self._desktop.pipe()
        if found is None:
            try:
                with caller.step("browser.launch", "browser"):
                    await caller.request("POST", LAUNCH, json={"name": "browser"})
            except DesktopRefused as error:
                if error.status in (401, 403, 409):
                    raise
                text = f"The browser does not run, and does not start: {error}"
                raise BrowserCallFailed(503, text, NO_BROWSER) from error
            found = self._desktop.pipe()
        if found is None:
            raise BrowserCallFailed(
                501,
                "The browser of this desktop cannot be controlled by this tool: use the computer "
                "tool and read_screen instead.",
                NO_BROWSER,
            )
        return found


def _title(call: BrowserCall) -> str:
    """Return the step of a call in words; values of forms and scripts are not part of it."""
    target = call.fields.get("target")
    shown = target.ref if isinstance(target, PageRef) else ""
    for name in ("url", "query", "tab_id"):
        shown = shown or str(call.fields.get(name, ""))
    if "paths" in call.fields:
        shown += " " + " ".join(call.fields["paths"])
    return shortened(shown, LONGEST_TITLE)


def _masked(value: Any, desktop: PagesDesktop) -> Any:
    match value:
        case str():
            return desktop.redact(value)
        case dict():
            # A mask would break the bytes of a picture.
            return {
                name: inner if name == "screenshot_data" else _masked(inner, desktop)
                for name, inner in value.items()
            }
        case list():
            return [_masked(inner, desktop) for inner in value]
    return value
