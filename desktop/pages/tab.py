"""One tab of the browser: its sessions, its frames, and what happens in it.

A page has one session, and one for each frame that another process shows. Private take-overs hide
what happens meanwhile: its console and requests are not kept.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .content.nodes import DomKey
from .content.page_tree import PageCapture
from .content.refs import stale
from .content.snapshot import STYLES
from .content.traffic import TabTraffic
from .errors import BrowserCallFailed, PageRequestFailed, PageSilent
from .page_requests import PageRequests
from .scripts import FOCUSED, PAINTED, VISIBLE, WINDOW
from .viewport import Viewport, viewport_of

Json = dict[str, Any]

DIALOG_OPEN = "dialog_open"
CRASHED = "page_crashed"
PRINT = "print"
"""Kind of the browser's dialog for printing."""
MOST_FRAMES = 30
"""Frames for which a click waits while its target moves."""
FRAME_SECONDS = 0.5
_WORLD = "deskhand"
_ANSWERS = "Answer it first: key Return accepts, key Escape dismisses"
_NEEDED = (
    "Page.enable",
    "Accessibility.enable",
    "Runtime.enable",
    "Network.enable",
    "Log.enable",
    "Inspector.enable",
)
_AUTO_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}


@dataclass(frozen=True)
class PageDialog:
    """A dialog of a page that waits for an answer, such as an alert."""

    kind: str
    message: str

    def facts(self) -> Json:
        """Return the dialog for clients."""
        return {"type": self.kind, "message": self.message}


@dataclass
class _Frame:
    """A frame in a process of its own."""

    session: str
    target: str


@dataclass
class BrowserTab:
    """A tab that is attached; `received` gets its events."""

    id: str
    target: str
    session: str
    requests: PageRequests
    traffic: TabTraffic = field(default_factory=TabTraffic)
    dialog: PageDialog | None = None
    crashed: bool = False
    http_status: int | None = None
    """Of the document that was loaded last; None if it was not read over HTTP."""
    loaded: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the page stops loading."""
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    _frames: dict[str, _Frame] = field(default_factory=dict)
    _viewport: Viewport | None = None

    async def prepare(self) -> None:
        """Ask for the events of the tab and of its frames."""
        for method in _NEEDED:
            await self._asked(method, {}, self.session)
        await self._asked("Target.setAutoAttach", _AUTO_ATTACH, self.session)

    def received(
        self,
        method: str,
        parameters: Json,
        session: str,
        spawn: Callable[[Any], None],
        *,
        private: bool,
    ) -> None:
        """Take an event; ``spawn`` runs what follows from it."""
        if method.startswith("Target."):
            self._frames_changed(method, parameters, spawn)
        elif method.startswith("Page."):
            self._page_changed(method, parameters)
        elif method.startswith("Inspector."):
            self.crashed = method == "Inspector.targetCrashed"
            # Whoever waits for its load learns of the crash.
            self.loaded.set()
        elif not private:
            if method == "Network.responseReceived" and session == self.session:
                self._answered(parameters)
            self.traffic.received(method, parameters)

    def _answered(self, parameters: Json) -> None:
        response = parameters.get("response") or {}
        if (parameters.get("type"), parameters.get("frameId")) == ("Document", self.target):
            over_http = str(response.get("url")).startswith(("http:", "https:"))
            self.http_status = int(response.get("status", 0)) if over_http else None

    def _frames_changed(self, method: str, parameters: Json, spawn: Callable[[Any], None]) -> None:
        child = str(parameters.get("sessionId"))
        if method == "Target.detachedFromTarget":
            self._frames.pop(child, None)
            return
        info = parameters.get("targetInfo") or {}
        if method == "Target.attachedToTarget" and info.get("type") == "iframe":
            self._frames[child] = _Frame(child, str(info.get("targetId")))
            spawn(self._prepare_frame(child))

    def _page_changed(self, method: str, parameters: Json) -> None:
        match method:
            case "Page.javascriptDialogOpening":
                kind, message = str(parameters.get("type")), str(parameters.get("message"))
                self.dialog = PageDialog(kind, message[:1000])
            case "Page.javascriptDialogClosed":
                self.dialog = None
            case "Page.frameStartedLoading" if parameters.get("frameId") == self.target:
                self.loaded.clear()
            case "Page.frameStoppedLoading" if parameters.get("frameId") == self.target:
                self.crashed = False
                self.loaded.set()

    def owns(self, session: str) -> bool:
        """Return whether a session is one of this tab."""
        return session == self.session or session in self._frames

    def check_readable(self) -> None:
        """Check that the page answers.

        Raises:
            BrowserCallFailed: While it shows a dialog, or after its process has crashed.
        """
        if self.dialog is not None:
            printing = self.dialog.kind == PRINT
            message = f' with "{self.dialog.message}"' if self.dialog.message else ""
            answers = "Key Escape closes it" if printing else _ANSWERS
            text = f"The page of tab {self.id} waits: it shows a dialog ({self.dialog.kind})"
            raise BrowserCallFailed(409, f"{text}{message}. {answers}.", DIALOG_OPEN)
        if self.crashed:
            text = f'The page of tab {self.id} has crashed: navigate to "reload", or elsewhere.'
            raise BrowserCallFailed(409, text, CRASHED)

    async def ask(self, method: str, parameters: Json | None = None, session: str = "") -> Json:
        """Ask the page; the errors are those of `PageRequests.ask`."""
        return await self.requests.ask(method, parameters, session or self.session)

    async def is_visible(self) -> bool:
        """Return whether the tab is the one that its window shows."""
        if self.dialog is not None:
            return True
        return not self.crashed and await self._evaluated(VISIBLE) == "visible"

    async def has_keyboard(self) -> bool:
        """Return whether the page is shown, and its window has the keyboard."""
        return not self.crashed and await self._evaluated(FOCUSED) is True

    async def bring_to_front(self) -> None:
        """Show the tab in its window, and the window above others."""
        await self.ask("Page.bringToFront")

    @property
    def is_unknown(self) -> bool:
        """True while a dialog hides where the page is, and it was not known before."""
        return self.dialog is not None and self._viewport is None

    async def viewport(self) -> Viewport:
        """Return where the page is on the screen; during a dialog, where it was.

        Raises:
            BrowserCallFailed: If the page does not answer.
        """
        if self.dialog is not None and self._viewport is not None:
            return self._viewport
        self.check_readable()
        world = await self._world(self.session, self.target)
        evaluated = {"expression": WINDOW, "returnByValue": True, **world}
        facts = (await self.ask("Runtime.evaluate", evaluated)).get("result", {}).get("value")
        metrics = await self.ask("Page.getLayoutMetrics")
        zoom = (metrics.get("cssVisualViewport") or {}).get("zoom") or 1
        found = viewport_of({**(facts or {}), "zoom": zoom})
        if found is None:
            raise BrowserCallFailed(409, f"The page of tab {self.id} is not shown in a window.")
        self._viewport = found
        return found

    async def captures(self) -> list[PageCapture]:
        """Return the documents of the page, and of its frames in other processes."""
        self.check_readable()
        found = []
        for session, target in ((self.session, ""), *self._inner()):
            try:
                found.append(await self._capture(session, target))
            except (PageRequestFailed, PageSilent):
                # A frame may go while the page is read; without the page itself nothing is read.
                if session == self.session:
                    raise
        return found

    async def check_current(self, ref: str, key: DomKey) -> None:
        """Check that an element is in a document that the tab still shows.

        Raises:
            BrowserCallFailed: If it is not.
        """
        self.check_readable()
        if not self.owns(key.session):
            raise stale(ref, self.id, "its frame is gone")
        frames = await self._frame_tree(key.session)
        if key.document not in {str(one.get("loaderId")) for one in frames}:
            raise stale(ref, self.id, "the page has changed by a navigation since it was read")

    async def resolved(self, ref: str, key: DomKey) -> str:
        """Return the object of an element in the world of our scripts.

        Raises:
            BrowserCallFailed: If the element is gone.
        """
        await self.check_current(ref, key)
        try:
            described = await self.ask("DOM.describeNode", {"backendNodeId": key.node}, key.session)
            frames = await self._frame_tree(key.session)
            frame = next(
                (str(one["id"]) for one in frames if str(one.get("loaderId")) == key.document), ""
            )
            world = await self._world(key.session, frame)
            wanted = {"backendNodeId": described["node"]["backendNodeId"]}
            if "contextId" in world:
                wanted["executionContextId"] = world["contextId"]
            answer = await self.ask("DOM.resolveNode", wanted, key.session)
        except PageRequestFailed:
            raise stale(ref, self.id, "the page has removed its element") from None
        return str(answer["object"]["objectId"])

    async def quads(self, ref: str, key: DomKey) -> list[list[float]]:
        """Scroll an element into view; return its rectangles in the viewport of the page.

        Raises:
            BrowserCallFailed: If it is gone, or not shown.
        """
        await self.check_current(ref, key)
        named = {"backendNodeId": key.node}
        try:
            await self.ask("DOM.scrollIntoViewIfNeeded", named, key.session)
            found = await self._resting(named, key.session)
        except PageRequestFailed as error:
            if "layout" in str(error) or "visible" in str(error) or "compute" in str(error):
                raise BrowserCallFailed(409, f"{ref} is not shown on the page.") from None
            raise stale(ref, self.id, "the page has removed its element") from None
        if key.session == self.session:
            return [list(map(float, quad)) for quad in found]
        left, top = await self._origin(key.session)
        return [
            [value + (top if index % 2 else left) for index, value in enumerate(quad)]
            for quad in found
        ]

    async def _resting(self, named: Json, session: str) -> list[list[float]]:
        """Return the rectangles of an element when they are painted, and move no more."""
        before: object = None
        for _ in range(MOST_FRAMES):
            found: list[list[float]] = (await self.ask("DOM.getContentQuads", named, session)).get(
                "quads", []
            )
            if found == before:
                break
            before = found
            with suppress(PageRequestFailed, PageSilent):
                wanted = {"expression": PAINTED, "awaitPromise": True}
                await self.requests.ask("Runtime.evaluate", wanted, session, FRAME_SECONDS)
        return found

    async def _origin(self, session: str) -> tuple[float, float]:
        """Return where a frame in another process begins in the viewport of the page."""
        left = top = 0.0
        for _ in range(len(self._frames) + 1):
            if session == self.session:
                break
            owner = await self._owner(self._frames[session].target, but=session)
            if owner is None:
                break
            session, number = owner
            named = {"backendNodeId": number}
            model = (await self.ask("DOM.getBoxModel", named, session))["model"]
            left, top = left + model["content"][0], top + model["content"][1]
        return left, top

    async def _capture(self, session: str, target: str) -> PageCapture:
        wanted = {"computedStyles": [*STYLES]}
        snapshot = await self.ask("DOMSnapshot.captureSnapshot", wanted, session)
        metrics = await self.ask("Page.getLayoutMetrics", {}, session)
        size = metrics.get("cssLayoutViewport") or {}
        frames = await self._frame_tree(session)
        return PageCapture(
            session,
            snapshot,
            {str(one["id"]): str(one.get("loaderId")) for one in frames},
            (size.get("clientWidth", 0), size.get("clientHeight", 0)),
            await self._owner(target, but=session) if target else None,
        )

    async def _owner(self, target: str, but: str) -> tuple[str, int] | None:
        """Return session and number of the element that shows a frame in another process."""
        for session in (self.session, *self._frames):
            if session == but:
                continue
            with suppress(PageRequestFailed, PageSilent, KeyError):
                answer = await self.ask("DOM.getFrameOwner", {"frameId": target}, session)
                return session, int(answer["backendNodeId"])
        return None

    async def _frame_tree(self, session: str) -> list[Json]:
        """Return the frames of a session, the outermost first."""
        answer = await self.ask("Page.getFrameTree", {}, session)
        found, waiting = [], [answer["frameTree"]]
        while waiting:
            current = waiting.pop(0)
            found.append(current["frame"])
            waiting += current.get("childFrames", ())
        return found

    async def _evaluated(self, expression: str) -> object:
        try:
            answer = await self.ask("Runtime.evaluate", {"expression": expression})
        except (PageRequestFailed, PageSilent):
            return None
        return answer.get("result", {}).get("value")

    async def _world(self, session: str, frame: str) -> Json:
        wanted = {"frameId": frame, "worldName": _WORLD, "grantUniveralAccess": False}
        try:
            answer = await self.ask("Page.createIsolatedWorld", wanted, session)
        except PageRequestFailed:
            return {}
        return {"contextId": answer["executionContextId"]}

    def _inner(self) -> list[tuple[str, str]]:
        return [(one.session, one.target) for one in [*self._frames.values()]]

    async def _prepare_frame(self, session: str) -> None:
        for method in _NEEDED[:-1]:
            await self._asked(method, {}, session)
        await self._asked("Target.setAutoAttach", _AUTO_ATTACH, session)

    async def _asked(self, method: str, parameters: Json, session: str) -> None:
        # A domain that a target does not have is none of its events.
        with suppress(PageRequestFailed, PageSilent):
            await self.ask(method, parameters, session)
