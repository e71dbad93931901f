"""Keys and buttons that a client of CDP has pressed and not released. Pure."""

from typing import Any

Json = dict[str, Any]

_KEYS, _MOUSE = "Input.dispatchKeyEvent", "Input.dispatchMouseEvent"
_KEY_FIELDS = ("key", "code", "windowsVirtualKeyCode", "nativeVirtualKeyCode", "location")


class HeldInput:
    """Notes the input of one client, and returns the requests that release it."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], Json] = {}

    def note(self, message: Json) -> None:
        """Note a request that is passed to the browser."""
        parameters = message.get("params")
        if not isinstance(parameters, dict):
            return
        kind, session = parameters.get("type"), str(message.get("sessionId"))
        if message.get("method") == _KEYS:
            place = (session, f"key {parameters.get('code') or parameters.get('key')}")
            release = {name: parameters[name] for name in _KEY_FIELDS if name in parameters}
            self._change(message, place, kind in ("keyDown", "rawKeyDown"), kind == "keyUp",
                         {**release, "type": "keyUp"})  # fmt: skip
        elif message.get("method") == _MOUSE:
            place = (session, f"button {parameters.get('button')}")
            at = {name: parameters.get(name, 0) for name in ("x", "y")}
            release = {**at, "button": parameters.get("button"), "clickCount": 1}
            self._change(message, place, kind == "mousePressed", kind == "mouseReleased",
                         {**release, "type": "mouseReleased"})  # fmt: skip

    def releases(self) -> list[Json]:
        """Return the requests that release everything, without ids; then nothing is held."""
        held, self._held = self._held, {}
        return list(held.values())

    def _change(
        self, message: Json, place: tuple[str, str], down: bool, up: bool, release: Json
    ) -> None:
        if up:
            self._held.pop(place, None)
        elif down:
            request = {"method": message["method"], "params": release}
            session = {name: message[name] for name in ("sessionId",) if name in message}
            self._held[place] = {**request, **session}
