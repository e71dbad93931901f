"""Waiting for what the screen of a remote desktop shows."""

import time
from typing import Any

from deskhand.desktop import results
from deskhand.desktop.errors import ConditionNotMet
from deskhand.desktop.results import Widget

from .awaited import Awaited, Wanted, absence, find_widget, shows_colour
from .transport import Transport

Json = dict[str, Any]

# The longest wait that the service accepts; longer ones are repeated.
_LONGEST = 300.0
# A change between a picture and the wait for the next change is missed: the picture is taken again.
_RECHECK = 1.0


class ScreenWaits:
    """Waits on one desktop."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def until(self, wanted: Wanted, timeout: float) -> Awaited:
        """Return when the screen shows all that is wanted.

        Raises:
            ConditionNotMet: After ``timeout`` seconds.
        """
        deadline = time.monotonic() + timeout
        seen: Json = {}
        while True:
            left = max(0.0, deadline - time.monotonic())
            if conditions := wanted.conditions():
                answer = await self._wait_for(conditions, left)
                seen = answer["seen"]
                if not answer["met"]:
                    if time.monotonic() < deadline:
                        continue
                    break
            found = await self._seen(wanted)
            if found is not None:
                return found
            left = deadline - time.monotonic()
            if left <= 0:
                break
            whole = [0, 0, 1 << 15, 1 << 15]
            await self._wait_for({"changed_region": whole}, min(left, _RECHECK))
        raise ConditionNotMet(absence(wanted, timeout, seen))

    async def _wait_for(self, conditions: Json, seconds: float) -> Json:
        wait = min(seconds, _LONGEST)
        body = {**conditions, "timeout_seconds": wait, "screenshot": False}
        path = "/desktop/wait-for"
        answer: Json = await self._transport.request("POST", path, json=body, timeout=wait + 30.0)
        return answer

    async def _seen(self, wanted: Wanted) -> Awaited | None:
        """Return the screen if it shows what the service cannot wait for."""
        widget: Widget | None = None
        if wanted.widget:
            tree = await self._transport.request("GET", "/desktop/accessibility")
            widgets = map(results.widget, tree["applications"])
            widget = find_widget(widgets, wanted.widget, wanted.role)
            if widget is None:
                return None
        picture = await self._transport.screenshot("png", {})
        if wanted.colour:
            part = picture
            if wanted.region is not None:
                region = ",".join(map(str, wanted.region))
                part = await self._transport.screenshot("png", {"region": region})
            if not shows_colour(part.to_pil().convert("RGB").tobytes(), wanted.colour):
                return None
        return Awaited(picture, widget)
