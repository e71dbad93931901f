"""The tools of the group computer, as requests to the desktop's own routes."""

import asyncio
import base64
from typing import Any

from deskhand.desktop.errors import DesktopRefused
from deskhand.desktop.geometry import Size
from deskhand.desktop.mcp.errors import McpError
from deskhand.desktop.mcp.limits import LONGEST_CALL
from deskhand.desktop.mcp.ports import DesktopRequests
from deskhand.desktop.mcp.selection import Pictures
from deskhand.desktop.mcp.tool import Json, McpImage, McpResult
from deskhand.desktop.mcp.tool_table import MOST_WIDGETS

from .images import FIRST_QUALITY, LARGEST_IMAGE, LOWER_QUALITIES, wants_jpeg
from .screen_view import ScreenView, view_of
from .seen_screens import SeenScreen, SeenScreens
from .texts import action_sentences, screen_sentences
from .widgets import found_widgets, widget_line

DESKTOP = "/api/v0/desktop"
SETTLE: Json = {"max_ms": 3000}
OPEN_SETTLE: Json = {"quiet_ms": 400, "max_ms": 6000}
OPEN_SECONDS = 0.5
"""Time in which a program that was opened shows its first window, before the screen can settle."""

WIDGET_SECONDS = 10.0


class ComputerCalls:
    """Executes the calls of one caller on one desktop, with arguments as the table reads them."""

    def __init__(
        self,
        desktop: DesktopRequests,
        seen: SeenScreens,
        key: str,
        pictures: Pictures = "changed",
        open_seconds: float = OPEN_SECONDS,
    ) -> None:
        """``key`` names the caller among those whose last screens ``seen`` keeps."""
        self._desktop = desktop
        self._seen = seen
        self._key = key
        self._pictures = pictures
        self._open_seconds = open_seconds

    async def look(self, arguments: Json) -> McpResult:
        """Take a screenshot."""
        view = await self._view()
        region, kind = arguments["region"], arguments["format"]
        body = {"action": "screenshot", **view.region(region)}
        shown = self._pictures != "off"
        options = {"format": kind, "quality": FIRST_QUALITY} if kind == "jpeg" else {}
        body["observe"] = {"screenshot": shown, "settle": False, **options}
        reply = await self._post("/action", body)
        image = await self._image(reply, view.region(region))
        if region is None and image is not None:
            self._seen.keep(self._key, SeenScreen(view, str(reply["frame_id"])))
        what = "The region" if region is not None else "The screen"
        sentences = [f"{what}, as it is now. The screen has {_pixels(view)}."]
        # Nothing was done: only the focus and the frame are news.
        facts = {name: reply[name] for name in _STANDING if name in reply}
        sentences += screen_sentences(facts)
        if not shown:
            sentences.append("Pictures are switched off.")
        return McpResult(" ".join(sentences), _screen(reply, view), image)

    async def act(self, arguments: Json) -> McpResult:
        """Perform actions, wait until the screen rests, and show it."""
        actions, look = arguments["actions"], arguments["look"]
        view = await self._view()
        observe = {"settle": SETTLE, **self._picture_options(look)}
        body = {"actions": actions, **view.space, "observe": observe}
        reply = await self._post("/actions", body)
        image, about_image = await self._picture(reply, view, look)
        results = reply.get("results") or []
        failed = any("error" in one for one in results)
        sentences = [
            *action_sentences(reply, len(actions)),
            *screen_sentences(reply),
            *about_image,
        ]
        content = {
            **_screen(reply, view),
            "results": [_action_result(one) for one in results],
            "changed_fraction": reply.get("changed_fraction") or 0.0,
            "settled": reply.get("settled") or "",
            "focused_window": (reply.get("focused_after") or {}).get("title") or "",
        }
        return McpResult(" ".join(sentences), content, image, is_error=failed)

    async def find(self, arguments: Json) -> McpResult:
        """Find widgets by text and role."""
        wanted, role = arguments["text"], arguments["role"]
        if not wanted.strip() and not role.strip():
            raise McpError("text or role is required")
        status = await self._status()
        view = view_of(status)
        tree = await self._request("GET", "/accessibility", timeout=WIDGET_SECONDS + 20)
        screen = Size(int(status["size"]["width"]), int(status["size"]["height"]))
        found = found_widgets(tree, wanted, role, lambda point: view.point(point, screen))
        listed, more = found[:MOST_WIDGETS], max(0, len(found) - MOST_WIDGETS)
        lines = [f"{len(found)} widgets fit." if listed else "No widget fits."]
        lines += [widget_line(one) for one in listed]
        if more:
            lines.append(f"{more} more are not listed: narrow the text or the role.")
        if not listed and tree.get("note"):
            lines.append(str(tree["note"]))
        return McpResult("\n".join(lines), {"widgets": listed, "more": more})

    async def open(self, arguments: Json) -> McpResult:
        """Open a URL, a path or an application, and show the screen."""
        target = arguments["target"]
        view = await self._view()
        reply = await self._opened(target)
        await asyncio.sleep(self._open_seconds)
        observe = {"settle": OPEN_SETTLE, **self._picture_options(True)}
        # This action changes nothing: it carries the observation.
        seen = await self._post(
            "/action", {"action": "cursor_position", **view.space, "observe": observe}
        )
        image, about_image = await self._picture(seen, view, True)
        facts = {name: value for name, value in seen.items() if not name.startswith("changed")}
        sentences = [f"Opened {target[:500]}.", *screen_sentences(facts), *about_image]
        content = {**_screen(seen, view), "process_id": str(reply.get("process_id", ""))}
        return McpResult(" ".join(sentences), content, image)

    async def _opened(self, target: str) -> Json:
        if target.startswith(("/", "~")):
            return await self._post("/open", {"path": target})
        if "://" in target:
            return await self._post("/open", {"url": target})
        try:
            return await self._post("/launch", {"name": target})
        except DesktopRefused as error:
            # Models leave out the scheme of an address.
            if error.status != 404 or "." not in target:
                raise
        return await self._post("/open", {"url": f"https://{target}"})

    async def _view(self) -> ScreenView:
        seen = self._seen.get(self._key)
        if seen is not None:
            return seen.view
        view = view_of(await self._status())
        self._seen.keep(self._key, SeenScreen(view))
        return view

    async def _status(self) -> Json:
        return await self._request("GET", "")

    def _picture_options(self, look: bool) -> Json:
        if not look or self._pictures == "off":
            return {"screenshot": False}
        seen = self._seen.get(self._key)
        if self._pictures == "on" or seen is None or not seen.frame_id:
            return {"screenshot": True}
        return {"screenshot": True, "since": seen.frame_id}

    async def _picture(
        self, reply: Json, view: ScreenView, look: bool
    ) -> tuple[McpImage | None, list[str]]:
        """Return the picture after an action, or the sentence about its absence."""
        if not look:
            return None, []
        if self._pictures == "off":
            return None, ["Pictures are switched off."]
        image = await self._image(reply, view.space)
        if image is None:
            return None, ["No picture: the screen looks as in the last one that you got."]
        self._seen.keep(self._key, SeenScreen(view, str(reply["frame_id"])))
        return image, [f"The picture shows it in {_pixels(view)}."]

    async def _image(self, reply: Json, shape: Json) -> McpImage | None:
        """Return the picture in a reply, as JPEG if that is smaller; None if there is none."""
        encoded = reply.get("screenshot_data")
        if not encoded:
            return None
        image = McpImage(base64.b64decode(encoded), str(reply["screenshot_media_type"]))
        jpeg = image.media_type == "image/jpeg"
        if not jpeg and wants_jpeg(len(image.data)):
            image = min(
                image, await self._jpeg(shape, FIRST_QUALITY), key=lambda one: len(one.data)
            )
        for quality in LOWER_QUALITIES:
            if len(image.data) <= LARGEST_IMAGE:
                break
            image = await self._jpeg(shape, quality)
        return image if len(image.data) <= LARGEST_IMAGE else None

    async def _jpeg(self, shape: Json, quality: int) -> McpImage:
        fields = {**shape, "format": "jpeg", "quality": quality}
        params = {
            name: ",".join(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in fields.items()
        }
        data = await self._desktop.request("GET", f"{DESKTOP}/screenshot", params=params)
        return McpImage(bytes(data), "image/jpeg")

    async def _post(self, path: str, body: Json) -> Json:
        return await self._request("POST", path, json=body)

    async def _request(
        self, method: str, path: str, *, json: Any = None, timeout: float = LONGEST_CALL
    ) -> Json:
        reply: Json = await self._desktop.request(
            method, f"{DESKTOP}{path}", json=json, timeout=timeout
        )
        return reply


_STANDING: tuple[str, ...] = ("focused_after", "frame_id")
"""Facts about a screen on which nothing was done."""


def _action_result(one: Json) -> Json:
    kept = ("output", "point", "clamped", "error", "skipped")
    return {name: one[name] for name in kept if name in one}


def _screen(reply: Json, view: ScreenView) -> Json:
    return {
        "frame_id": str(reply.get("frame_id") or ""),
        "width": view.size.width,
        "height": view.size.height,
    }


def _pixels(view: ScreenView) -> str:
    return f"{view.size.width}x{view.size.height} pixels"
