"""Requests to the gates of nodes, over TLS with the certificates of both ends."""

import asyncio
import json
import ssl
from datetime import UTC, datetime
from typing import Any, Protocol, Self

from deskhand.desktop.client.http1.connection import ConnectionLost
from deskhand.desktop.client.http1.connections import Connections, connections_of
from deskhand.desktop.client.http1.request import JSON, ClientRequest, json_body
from deskhand.desktop.client.http1.response import BrokenResponse
from deskhand.tools.cluster.gate_connections import gate_connections
from deskhand.tools.cluster.trust import ClusterTls

from .errors import BadAnswer, GateRefused, GateUnreachable, GateUntrusted
from .node_answer import NodeAnswer

Json = dict[str, Any]
ASK_SECONDS = 3.0
START_SECONDS = 75.0
"""For a start, which a node gives up after 60 s."""
END_SECONDS = 30.0
FIRST_REDIRECTION = 300
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
        # One for each name and address: the name was verified on the connections.
        self._nodes: dict[tuple[str, str], Connections] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for connections in self._nodes.values():
            connections.close()
        self._nodes.clear()

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
            # A limit for all of it: that of the request is for each byte.
            async with asyncio.timeout(seconds):
                request = _request(method, path, body)
                response = await self._connections(name, address).request(request, seconds)
            data = json.loads(response.content) if response.content else None
        except TimeoutError as error:
            text = f"node {name} at {address} has not answered within {seconds:.0f} s"
            raise GateUnreachable(text) from error
        except (ConnectionLost, BrokenResponse, OSError, ValueError) as error:
            kind = GateUntrusted if _is_trust(error) else GateUnreachable
            reason = str(error) or type(error).__name__
            raise kind(f"node {name} at {address} does not answer: {reason}") from error
        status = response.head.status
        if status < FIRST_REDIRECTION:
            return data
        said = data if isinstance(data, dict) else {}
        message = str(said.get("message") or f"node {name} has answered {status}")
        raise GateRefused(status, str(said.get("code", "")), message)

    def _connections(self, name: str, address: str) -> Connections:
        found = self._nodes.get((name, address))
        if found is None:
            pool = gate_connections(self._tls, name, address)
            found = self._nodes[name, address] = connections_of(pool, f"https://{address}", {})
        return found


def _request(method: str, path: str, body: Json | None) -> ClientRequest:
    if body is None:
        return ClientRequest(method, path, {})
    return ClientRequest(method, path, {"Content-Type": JSON}, json_body(body))


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
