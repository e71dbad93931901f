"""Members that use the screen: mouse, keyboard, waits and pictures of the page.

The tab is shown first, so that people see what is done. Input goes through the desktop's own route
for actions, with the caller's credential: lease, recording and approvals hold as for each action.
"""

import base64
from contextlib import suppress
from typing import Any

from deskhand.desktop.geometry import Point, model_size
from deskhand.desktop.own_api.own_api import ApiCaller
from deskhand.desktop.screenshots.options import PictureOptions, View, fitted

from .actions import OBSERVE, desktop_actions, sentence
from .errors import BrowserCallFailed, PageRequestFailed, PageSilent
from .members import BrowserCall, PagePoint, PageRef
from .ports import PagesDesktop
from .scripts import SHOWN
from .tab import BrowserTab
from .tabs import BrowserTabs
from .viewport import middle

Json = dict[str, Any]

ACTIONS = "/api/v0/desktop/actions"


class ScreenUse:
    """Performs these members."""

    def __init__(self, desktop: PagesDesktop, tabs: BrowserTabs) -> None:
        self._desktop = desktop
        self._tabs = tabs

    async def act(self, call: BrowserCall, tab: BrowserTab, caller: ApiCaller) -> Json:
        """Perform input; return the text for the model.

        Raises:
            DesktopRefused: If the desktop's own route refuses it.
        """
        if call.name != "wait":
            await self.show(tab)
        points = {
            name: await self._point(target, tab)
            for name in ("from", "target")
            if (target := call.fields.get(name)) is not None
        }
        body = {"actions": desktop_actions(call, points), "observe": OBSERVE}
        answer = await caller.request("POST", ACTIONS, json=body, tool=f"browser.{call.name}")
        last = answer["results"][-1]
        for result in answer["results"]:
            if "error" in result:
                raise BrowserCallFailed(500, str(result["output"]))
        found = {"text": sentence(call, answer)}
        return found | ({"told_text": last["told_text"]} if "told_text" in last else {})

    async def picture(self, call: BrowserCall, tab: BrowserTab) -> Json:
        """Return a picture of the page as the screen shows it, or of a region of it."""
        await self.show(tab)
        if tab.is_unknown and "region" not in call.fields:
            whole = self._desktop.pictures.size
            return await self._taken("The screen", View(model_size(whole), None, PictureOptions()))
        viewport = await tab.viewport()
        what, region, size = "The page", viewport.region, viewport.picture
        if "region" in call.fields:
            region = viewport.region_on_screen(call.fields["region"])
            what, size = "A part of the page", fitted(region.size, size)
        return await self._taken(what, View(size, region, PictureOptions()))

    async def _taken(self, what: str, view: View) -> Json:
        taken = await self._desktop.pictures.picture(view)
        if taken.data is None:
            raise BrowserCallFailed(500, "The screen could not be read.")
        return {
            "text": f"{what}, {view.size.width}x{view.size.height}.",
            "screenshot_data": base64.b64encode(taken.data).decode(),
            "screenshot_media_type": f"image/{taken.format}",
            "screenshot_width": taken.size.width,
            "screenshot_height": taken.size.height,
        }

    async def show(self, tab: BrowserTab) -> None:
        """Show a tab in its window, above others."""
        if tab.crashed:
            tab.check_readable()
        self._tabs.use(tab)
        # Shown once more, a page would lose what is selected in it.
        if tab.dialog is None and await tab.has_keyboard():
            return
        await tab.bring_to_front()
        if tab.dialog is None:
            # Until its window has the keyboard and the page is painted.
            with suppress(PageRequestFailed, PageSilent):
                wanted = {"expression": SHOWN, "awaitPromise": True}
                await tab.requests.ask("Runtime.evaluate", wanted, tab.session, 2.0)

    async def _point(self, target: PagePoint | PageRef, tab: BrowserTab) -> Point:
        if isinstance(target, PagePoint):
            return (await tab.viewport()).on_screen(target)
        quads = await tab.quads(target.ref, self._tabs.refs.find(target.ref, tab.id))
        viewport = await tab.viewport()
        point = middle(quads, viewport)
        if point is None:
            text = f"{target.ref} has no visible area: it is hidden, or outside of the page."
            raise BrowserCallFailed(409, text)
        return viewport.of_css(*point)
