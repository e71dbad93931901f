"""Requests to the gates of nodes, over TLS with the certificates of both ends."""

import asyncio
import logging
import ssl
from datetime import UTC, datetime
from typing import Any, Protocol, Self

import httpx2

from deskhand.tools.cluster.errors import PeerRefused
from deskhand.tools.cluster.member import Member
from deskhand.tools.cluster.trust import ClusterTls

from .connecting import Connecting
from .errors import BadAnswer, GateRefused, GateUnreachable, GateUntrusted
from .node_answer import NodeAnswer

log = logging.getLogger(__name__)
Json = dict[str, Any]
ASK_SECONDS = 3.0
START_SECONDS = 75.0
"""For a start, which a node gives up after 60 s."""
END_SECONDS = 30.0
CONNECT_SECONDS = 2.0
"""For the connection, and for its TLS handshake; cancelling waits for the end of that."""
HAS_EXPIRED = 10
"""X509_V_ERR_CERT_HAS_EXPIRED of OpenSSL's x509_vfy.h."""


class GatesPort(Protocol):
    """What the placer needs of the nodes."""

    async def node(self, name: str, address: str) -> NodeAnswer:
        """Return a node as its gate describes it."""

    async def start(self, name: str, address: str, order: Json) -> Json:
        """Start a desktop on a node and return it once it is ready."""

    async def end(self, name: str, address: str, desktop_id: str) -> None:
        """End a desktop on a node; one that it does not have is fine."""


class Gates:
    """Connections to all nodes. Use it as a context manager."""

    def __init__(self, tls: ClusterTls) -> None:
        self._tls = tls
        # One for each node: connections of a pool are shared by address, and not by the name that
        # was verified on them.
        self._clients: dict[tuple[str, str], httpx2.AsyncClient] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        clients, self._clients = self._clients, {}
        closing = [client.aclose() for client in clients.values()]
        for failure in await asyncio.gather(*closing, return_exceptions=True):
            if failure is not None:
                log.warning("connections to a gate were not closed: %r", failure)

    async def node(self, name: str, address: str) -> NodeAnswer:
        """Return a node as its gate describes it.

        Raises:
            GateUnreachable: If it does not answer in time, or is another one.
            GateRefused: If it answers with an error.
        """
        data = await self._answer(name, address, "GET", "/node", ASK_SECONDS)
        try:
            answer = NodeAnswer.of_json(data)
        except BadAnswer as error:
            raise GateUnreachable(f"node {name} at {address}: {error}") from error
        if answer.name != name:
            raise GateUnreachable(f"the gate at {address} is of node {answer.name!r}, not {name}")
        return answer

    async def start(self, name: str, address: str, order: Json) -> Json:
        """Start a desktop on a node and return it once it is ready.

        Raises:
            GateUnreachable: If it does not answer in time.
            GateRefused: If it does not start it.
        """
        data = await self._answer(name, address, "POST", "/desktops", START_SECONDS, order)
        if not isinstance(data, dict):
            raise GateUnreachable(f"node {name} at {address}: the answer is no desktop")
        return data

    async def end(self, name: str, address: str, desktop_id: str) -> None:
        """End a desktop on a node; one that it does not have is fine.

        Raises:
            GateUnreachable: If it does not answer in time.
            GateRefused: If it does not end it.
        """
        try:
            await self._answer(name, address, "DELETE", f"/desktops/{desktop_id}", END_SECONDS)
        except GateRefused as error:
            if error.status != 404:
                raise

    async def _answer(
        self,
        name: str,
        address: str,
        method: str,
        path: str,
        seconds: float,
        body: Json | None = None,
    ) -> Any:
        if self._tls.own.not_after <= datetime.now(UTC):
            raise GateUntrusted("our own certificate is over; renew it with deskhand ca plane")
        try:
            # A limit for all of it: those of the client are for each read.
            async with asyncio.timeout(seconds):
                connecting, host = Connecting(), Member("node", name).host
                request = self._client(name, address).request(
                    method,
                    f"https://{address}{path}",
                    json=body,
                    extensions={"sni_hostname": host, "trace": connecting.trace},
                )
                response = await connecting.keep(request)
            self._check(response, name)
            data = response.json() if response.content else None
        except TimeoutError as error:
            text = f"node {name} at {address} has not answered within {seconds:.0f} s"
            raise GateUnreachable(text) from error
        except (httpx2.HTTPError, OSError, PeerRefused, ValueError) as error:
            kind = GateUntrusted if _is_trust(error) else GateUnreachable
            reason = str(error) or type(error).__name__
            raise kind(f"node {name} at {address} does not answer: {reason}") from error
        if response.is_success:
            return data
        said = data if isinstance(data, dict) else {}
        message = str(said.get("message") or f"node {name} has answered {response.status_code}")
        raise GateRefused(response.status_code, str(said.get("code", "")), message)

    def _client(self, name: str, address: str) -> httpx2.AsyncClient:
        client = self._clients.get((name, address))
        if client is None:
            client = httpx2.AsyncClient(
                verify=self._tls.client_context,
                trust_env=False,
                timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=8),
            )
            self._clients[name, address] = client
        return client

    def _check(self, response: httpx2.Response, name: str) -> None:
        """Check the node's certificate, which may have been revoked since the handshake."""
        stream = response.extensions["network_stream"]
        secure: ssl.SSLObject = stream.get_extra_info("ssl_object")
        self._tls.check(secure.getpeercert(binary_form=True), "node", name)


def _is_trust(error: BaseException) -> bool:
    """Return whether the gate is there, and one of the certificates cannot be used any more.

    One of another member is that of another host at the address.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_code == HAS_EXPIRED
        if isinstance(cause, ssl.SSLError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
