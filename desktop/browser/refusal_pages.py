"""Replacement of the browser's error page where the desktop's network refused the address. Pure.

A client of the debugging pipe, with a session of its own for the browser, so that no other client
ends its events. It is notified when a page has another address. If that address is one that the
network refuses, it attaches to the page, writes the reason into the browser's error page
(``chrome-error:``), and detaches. A document of a site is never changed: the script itself checks
in which document it runs.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .pipe_messages import Message

Refusal = Callable[[str], Sequence[str]]
"""Returns title and paragraphs for a page's address; nothing if the network does not refuse it."""

MOST_PAGES = 1_000
"""Pages that are watched; further ones keep the browser's error page."""

_BROWSER = "browser"
"""Stands for the browser where else the id of a page is."""

_CHANGES = ("Target.targetCreated", "Target.targetInfoChanged")

_SCRIPT = """(async texts => {
  const error = () => location.protocol === "chrome-error:";
  if (error() && document.readyState !== "complete")
    await new Promise(done => addEventListener("load", done));
  if (!error()) return;
  const [title, ...paragraphs] = texts.map((text, number) => {
    const element = document.createElement(number ? "p" : "h1");
    element.textContent = text;
    return element;
  });
  document.body.replaceChildren(title, ...paragraphs);
  document.body.className = "";
  document.body.style.cssText = "font: 16px sans-serif; max-width: 40em; margin: 4em auto";
  document.documentElement.lang = "en";
})"""


@dataclass
class _Page:
    """A page of the browser."""

    address: str
    attached: bool
    wanted: Sequence[str] = ()
    """Texts that it is to show."""
    busy: bool = False
    """True from the request to attach until the session has ended."""
    session: str = ""


class RefusalPages:
    """The requests of one client of a pipe."""

    def __init__(self, refusal: Refusal, most_pages: int = MOST_PAGES) -> None:
        self._refusal = refusal
        self._most_pages = most_pages
        self._pages: dict[str, _Page] = {}
        self._asked: dict[int, str] = {}
        self._browser = ""
        self._last_id = 0

    def begin(self) -> list[Message]:
        """Return the first requests."""
        return [self._request(_BROWSER, "Target.attachToBrowserTarget")]

    def received(self, message: Message) -> list[Message]:
        """Return the requests that follow from an event or an answer."""
        method, parameters = message.get("method"), _object(message, "params")
        if method in _CHANGES:
            return self._changed(_object(parameters, "targetInfo"))
        if method == "Target.targetDestroyed":
            self._forget(str(parameters.get("targetId")))
        elif method == "Target.detachedFromTarget":
            return self._detached(str(parameters.get("sessionId")))
        elif method is None:
            return self._answered(message)
        return []

    def _changed(self, info: Message) -> list[Message]:
        target, address = str(info.get("targetId")), str(info.get("url"))
        attached, page = info.get("attached") is True, self._pages.get(target)
        if info.get("type") != "page":
            return []
        if page is None:
            if len(self._pages) >= self._most_pages:
                return []
            page = self._pages[target] = _Page(address, attached)
        elif (page.attached, page.address) == (not attached, address):
            # Only a client has come or gone, such as this one.
            page.attached = attached
            return []
        page.address, page.attached = address, attached
        page.wanted = self._refusal(address)
        return self._attach(target, page)

    def _attach(self, target: str, page: _Page) -> list[Message]:
        if not page.wanted or page.busy:
            return []
        page.busy = True
        return [self._request(target, "Target.attachToTarget", targetId=target, flatten=True)]

    def _answered(self, message: Message) -> list[Message]:
        target = self._asked.pop(_number(message), "")
        if target == _BROWSER:
            self._browser = str(_object(message, "result").get("sessionId", ""))
            wanted = {"discover": True, "filter": [{"type": "page"}]}
            return [self._request("", "Target.setDiscoverTargets", **wanted)]
        page = self._pages.get(target)
        if page is None:
            return []
        if page.session:
            # The answer of the script, or its error: the page has gone on.
            return [self._request("", "Target.detachFromTarget", sessionId=page.session)]
        page.session = str(_object(message, "result").get("sessionId", ""))
        page.busy = bool(page.session)
        if not page.session:
            return []
        script = {"expression": f"{_SCRIPT}({json.dumps(page.wanted)})", "awaitPromise": True}
        page.wanted = ()
        return [{**self._request(target, "Runtime.evaluate", **script), "sessionId": page.session}]

    def _detached(self, session: str) -> list[Message]:
        for target, page in self._pages.items():
            if session and page.session == session:
                page.busy, page.session = False, ""
                # A refused address that it has got meanwhile.
                return self._attach(target, page)
        return []

    def _forget(self, target: str) -> None:
        self._pages.pop(target, None)
        self._asked = {number: one for number, one in self._asked.items() if one != target}

    def _request(self, target: str, method: str, **parameters: Any) -> Message:
        self._last_id += 1
        if target:
            self._asked[self._last_id] = target
        request: Message = {"id": self._last_id, "method": method, "params": parameters}
        return request | ({"sessionId": self._browser} if self._browser else {})


def _object(message: Message, name: str) -> Message:
    found = message.get(name)
    return found if isinstance(found, dict) else {}


def _number(message: Message) -> int:
    found = message.get("id")
    return found if isinstance(found, int) else 0
