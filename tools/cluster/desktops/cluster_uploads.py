"""Files of desktops that their nodes put straight to addresses, such as those of a bucket."""

import logging
import re
from collections.abc import Callable
from typing import Any

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.tools.conversation.uploaded import UploadedFile

from .gates import GateClients
from .placed import Placed

log = logging.getLogger(__name__)
UPLOAD_SECONDS = 15 * 60.0
"""Longest wait for an upload; those who wait have limits of their own."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


class ClusterUploads:
    """The uploads of all nodes; ``placed`` returns what rows show."""

    def __init__(self, clients: GateClients, placed: Callable[[], Placed]) -> None:
        self._clients = clients
        self._placed = placed

    async def put(self, desktop_id: str, path: str, put_url: str) -> UploadedFile | None:
        """Let the node of a desktop put what the desktop answers to a path to a signed address.

        Return None if this has failed: the node is older, or does not reach the address.
        """
        found = self._placed().ready(desktop_id)
        if found is None:
            return None
        order = {"desktop_id": desktop_id, "path": path, "put_url": put_url, "headers": {}}
        gate = self._clients.gate(found.gate)
        try:
            answer = await gate.request("POST", "/uploads", json=order, timeout=UPLOAD_SECONDS)
        except (DesktopRefused, DesktopUnavailable) as error:
            log.info("node %s did not upload %s: %s", found.gate.node, path, error)
            return None
        return _uploaded(answer)


def _uploaded(answer: Any) -> UploadedFile | None:
    match answer:
        case {"size": int(size), "sha256": str(sha256)} if size >= 0 and _DIGEST.fullmatch(sha256):
            return UploadedFile(size, sha256)
    return None
