"""A text goes into the field of a page that has the keyboard, by the browser's debugging pipe.

Each call is a client of the pipe of its own. It attaches to all pages and to the frames of other
processes, and asks each document for the element with the keyboard, in an isolated world. Exactly
one document has it. Its address decides if the text may go there. One call then checks the field
and enters the text (`field_scripts.ENTER`).
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from deskhand.desktop.computer.typing_policy import PageField
from deskhand.desktop.domains import belongs, host_of
from deskhand.desktop.errors import (
    ActionFailed,
    FieldTooShort,
    FocusMoved,
    ForeignHost,
    UnfitField,
)
from deskhand.desktop.pages.errors import PageRequestFailed, PageSilent
from deskhand.desktop.pages.page_requests import BrowserPipe, PageRequests

from .field_scripts import ENTER, FOCUSED_FIELD, HAS_FOCUS_IN_ROOT, PLACE

Json = dict[str, Any]

_WORLD = "deskhand-entry"
_KINDS = ("page", "iframe")
SILENT = "The page does not answer: it may have the text."
SEARCH_SECONDS = 3.0
"""Time in which a document must say if it has the keyboard; one with a dialog does not answer."""
_UNANSWERED = (PageRequestFailed, PageSilent, KeyError)


@dataclass(frozen=True)
class _Element:
    """An element in the isolated world of its document."""

    session: str
    context: int
    object: str


class BrowserPageEntry:
    """Enters texts into the browser's pages; ``pipe`` returns that of the browser that runs."""

    def __init__(self, pipe: Callable[[], BrowserPipe | None]) -> None:
        self._pipe = pipe

    async def enter(
        self, text: str | None, hosts: Sequence[str], *, any_field: bool
    ) -> PageField | None:
        """Enter a text into the field with the keyboard; without one, only check the field.

        Return None if no browser with a pipe runs, or none of its pages is known to have the
        keyboard. Cancelling it may leave the text entered.

        Raises:
            ForeignHost: If the page is of none of the hosts.
            UnfitField: If the field is none of a sign-in, and ``any_field`` is false.
            FieldTooShort: If the field does not take the whole text.
            FocusMoved: If the page has moved the focus; then the text may be entered in part.
            ActionFailed: If the page does not answer.
        """
        pipe = self._pipe()
        if pipe is None:
            return None
        requests = PageRequests(pipe, lambda *_: None)
        try:
            try:
                await requests.open(shown=True)
                found = await _focused(requests)
            except (PageRequestFailed, PageSilent):
                return None
            if found is None:
                return None
            return await _entered(requests, found, text, hosts, any_field)
        finally:
            await requests.close()


async def _entered(
    requests: PageRequests,
    element: _Element,
    text: str | None,
    hosts: Sequence[str],
    any_field: bool,
) -> PageField:
    try:
        origin, address = await _call(requests, element, PLACE)
        host = host_of(str(address))
        if not belongs(host, hosts):
            raise ForeignHost(hosts, host)
        done = await _call(requests, element, ENTER, text, origin, any_field)
    except PageRequestFailed:
        # The document has gone.
        raise FocusMoved from None
    except PageSilent:
        # The message of the error has no part of the request, which has the text.
        raise ActionFailed(SILENT, "") from None
    state = done.get("state")
    if state == "unfit":
        raise UnfitField(str(done.get("field")), hosts)
    if state == "short":
        raise FieldTooShort
    if state not in ("entered", "keys"):
        raise FocusMoved
    return PageField(host, entered=state == "entered")


async def _focused(requests: PageRequests) -> _Element | None:
    """Return the element with the keyboard; None if there are none or several."""
    targets = (await requests.ask("Target.getTargets"))["targetInfos"]
    wanted = [str(one["targetId"]) for one in targets if one.get("type") in _KINDS]
    each = await asyncio.gather(*(_in_target(requests, one) for one in wanted))
    found = [element for elements in each for element in elements]
    return await _innermost(requests, found[0]) if len(found) == 1 else None


async def _in_target(requests: PageRequests, target: str) -> list[_Element]:
    """Return the elements of a page, or of a frame of another process, that have the keyboard."""
    try:
        attached = {"targetId": target, "flatten": True}
        session = str((await requests.ask("Target.attachToTarget", attached))["sessionId"])
        tree = await requests.ask("Page.getFrameTree", {}, session, SEARCH_SECONDS)
        frames = [*_frames(tree["frameTree"])]
    except _UNANSWERED:
        # It has gone since it was listed, or shows a dialog.
        return []
    found = await asyncio.gather(*(_in_frame(requests, session, one) for one in frames))
    return [one for one in found if one is not None]


async def _in_frame(requests: PageRequests, session: str, frame: str) -> _Element | None:
    with suppress(*_UNANSWERED):
        world = {"frameId": frame, "worldName": _WORLD}
        made = await requests.ask("Page.createIsolatedWorld", world, session, SEARCH_SECONDS)
        context = int(made["executionContextId"])
        wanted = {"expression": FOCUSED_FIELD, "contextId": context}
        answer = await requests.ask("Runtime.evaluate", wanted, session, SEARCH_SECONDS)
        if "objectId" in answer["result"]:
            return _Element(session, context, str(answer["result"]["objectId"]))
    return None


async def _innermost(requests: PageRequests, element: _Element) -> _Element:
    """Return the element with the keyboard in the closed shadow trees of a host."""
    wanted = {"objectId": element.object, "depth": -1, "pierce": True}
    with suppress(*_UNANSWERED):
        described = await requests.ask("DOM.describeNode", wanted, element.session)
        for node in _in_shadow_trees(described["node"]):
            place = {"backendNodeId": node, "executionContextId": element.context}
            answer = await requests.ask("DOM.resolveNode", place, element.session)
            inner = _Element(element.session, element.context, str(answer["object"]["objectId"]))
            if await _call(requests, inner, HAS_FOCUS_IN_ROOT):
                return inner
    return element


async def _call(requests: PageRequests, element: _Element, script: str, *arguments: Any) -> Any:
    wanted = {
        "objectId": element.object,
        "functionDeclaration": script,
        "arguments": [{"value": one} for one in arguments],
        "returnByValue": True,
        "userGesture": True,
    }
    answer = await requests.ask("Runtime.callFunctionOn", wanted, element.session)
    if "exceptionDetails" in answer:
        raise PageRequestFailed("the page has changed")
    return answer["result"].get("value")


def _frames(tree: Json) -> Iterator[str]:
    yield str(tree["frame"]["id"])
    for child in tree.get("childFrames", ()):
        yield from _frames(child)


def _in_shadow_trees(node: Json, *, inside: bool = False) -> Iterator[int]:
    """Yield the numbers of the fields in the shadow trees below a node."""
    for name in ("shadowRoots", "children"):
        children: Iterable[Json] = node.get(name, ())
        for child in children:
            within = inside or name == "shadowRoots"
            yield from _in_shadow_trees(child, inside=within)
    if inside and node.get("localName") in ("input", "textarea"):
        yield int(node["backendNodeId"])
