"""A desktop service and a picture store in memory."""

import base64
from collections.abc import Mapping
from typing import Any

from deskhand.tools.conversation.conversation import Image
from deskhand.tools.kit.support.spec import Machine

Json = dict[str, Any]


class FakeDesktop:
    """Responds to actions as the service does; ``frame`` is the number of the current frame."""

    def __init__(self) -> None:
        self.frame = 1
        self.sent: list[tuple[str, Json]] = []
        self.timeouts: list[float] = []
        self.error: Exception | None = None
        self.extra: Json = {}
        self.lease_error: Exception | None = None
        self.leases: list[Json] = []
        """Responses to requests of the lease, in order; after the last one ``error`` is cleared."""
        self.small: bytes | dict[str, str] | Exception = b"jpeg 1"
        """Response to a request of a small screenshot."""
        self.glances: list[Mapping[str, str]] = []

    def machine(self, call_id: str) -> Machine:
        return _Marked(self, call_id)

    def answer(self, call_id: str, payload: Json, timeout: float) -> Json:
        self.sent.append((call_id, payload))
        self.timeouts.append(timeout)
        if self.error is not None:
            raise self.error
        frame_id = f"boot-{self.frame}"
        reply: Json = {"output": f"{payload['action']} action performed", "frame_id": frame_id}
        if payload["action"] == "cursor_position":
            return {**reply, "output": "x=7,y=8", "point": [7, 8], "native_point": [11, 13]}
        if "coordinate" in payload:
            x, y = payload["coordinate"]
            reply |= {"point": [x, y], "native_point": [x * 3 // 2, y * 3 // 2], "clamped": False}
        reply |= {
            "screenshot_width": 1280,
            "screenshot_height": 720,
            "screenshot_media_type": "image/png",
        }
        observe = payload.get("observe", payload)
        if observe.get("since") == frame_id:
            reply["unchanged"] = True
        elif not observe.get("screenshot", True):
            pass
        else:
            reply["screenshot_data"] = base64.b64encode(f"png {frame_id}".encode()).decode()
        reply["timings"] = {"act_ms": 1.0}
        return {**reply, **self.extra}


class _Marked:
    def __init__(self, desktop: FakeDesktop, call_id: str) -> None:
        self._desktop = desktop
        self._call_id = call_id

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        if (method, path) == ("GET", "/api/v0/desktop/lease"):
            if self._desktop.lease_error is not None:
                raise self._desktop.lease_error
            leases = self._desktop.leases
            free: dict[str, Any] = {"holder": {"kind": "nobody"}, "last": None}
            lease: dict[str, Any] = leases.pop(0) if leases else free
            if not leases and lease["last"] is not None:
                self._desktop.error = None
            return lease
        if (method, path) == ("GET", "/api/v0/desktop/screenshot"):
            self._desktop.glances.append(params or {})
            if isinstance(self._desktop.small, Exception):
                raise self._desktop.small
            return self._desktop.small
        assert (method, path) == ("POST", "/api/v0/desktop/action")
        return self._desktop.answer(self._call_id, json, timeout)


class FakePictures:
    def __init__(self) -> None:
        self.saved: list[bytes] = []

    async def save(self, data: bytes, media_type: str, width: int, height: int) -> Image:
        self.saved.append(data)
        return Image(f"f{len(self.saved)}", media_type, width, height)
