"""Delivery of an event to the receiver, over httpx2.

The name of the receiver is resolved here, its addresses are checked, and the connection is made to
a checked address. A name that resolves to another address a moment later (DNS rebinding) has no
effect. Redirects and proxies of the environment are not followed, as they lead elsewhere.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence

import httpx2

from deskhand.desktop.network.public_addresses import is_public

from .errors import DeliveryFailed
from .notification import (
    ID_HEADER,
    SIGNATURE_HEADER,
    Notification,
    encoded,
    signature,
)

TIMEOUT = 10.0
"""Seconds for a whole attempt."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


async def resolved(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host; raises ``OSError``."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


class Webhook:
    """The receiver at ``url``; with ``private`` it may have an address of a private network."""

    def __init__(
        self, url: str, secret: str, *, private: bool = False, resolve: Resolve = resolved
    ) -> None:
        self._url = httpx2.URL(url)
        self._secret = secret
        self._private = private
        self._resolve = resolve

    async def deliver(self, notification: Notification) -> None:
        """Send an event once.

        Raises:
            DeliveryFailed: If the receiver did not answer with a status of success.
        """
        try:
            async with asyncio.timeout(TIMEOUT):
                await self._send(notification)
        except (TimeoutError, OSError, ssl.SSLError, httpx2.HTTPError) as error:
            raise DeliveryFailed(f"{type(error).__name__}: {error}") from error

    async def _send(self, notification: Notification) -> None:
        url, body = self._url, encoded(notification)
        port = url.port or (443 if url.scheme == "https" else 80)
        addresses = await self._resolve(url.host, port)
        allowed = [one for one in addresses if self._private or is_public(one)]
        if not allowed:
            raise DeliveryFailed(f"{url.host} has no address that notifications may be sent to")
        headers = {
            "Host": url.netloc.decode(),
            "Content-Type": "application/json",
            ID_HEADER: notification.id,
            SIGNATURE_HEADER: signature(body, self._secret, time.time()),
        }
        async with httpx2.AsyncClient(trust_env=False, timeout=TIMEOUT) as client:
            request = client.build_request(
                "POST",
                url.copy_with(host=allowed[0]),
                content=body,
                headers=headers,
                # The certificate is checked against the name, not the address.
                extensions={"sni_hostname": url.host},
            )
            response = await client.send(request, stream=True)
            # What the receiver answers is of no use: its body is not read.
            await response.aclose()
        if not response.is_success:
            raise DeliveryFailed(f"it answered {response.status_code}")
