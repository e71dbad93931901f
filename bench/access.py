"""Measure what access control costs a request: ``python -m bench.access [CHECKOUT]``.

Microseconds of processor time in `AuthMiddleware`, before an application that does nothing, of
typical requests. CHECKOUT is the folder of another version, such as the commit before, which takes
turns with this one in processes of its own.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import MutableMapping
from pathlib import Path
from statistics import median
from typing import Any

from starlette.types import Receive, Scope, Send

from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.middleware import AuthMiddleware, owned_by_none
from deskhand.vncbridge.auth.policy import AccessPolicy, Principal

TOKENS = {
    "owner": Principal("owner"),
    "chat": Principal("chat", ("chat:c1",)),
    "viewer": Principal("viewer", ("desktop:d1:view",)),
}
CALLS, TURNS = 20_000, 5
CLIENT = (
    (b"host", b"127.0.0.1:7777"),
    (b"accept", b"*/*"),
    (b"accept-encoding", b"gzip, deflate"),
    (b"connection", b"keep-alive"),
    (b"user-agent", b"deskhand"),
)
BODY = ((b"content-type", b"application/json"), (b"content-length", b"52"))


def request(method: str, path: str, token: str, *headers: tuple[bytes, bytes]) -> Scope:
    shown = ((b"authorization", f"Bearer {token}".encode()),) if token else ()
    return {
        **{"type": "http", "method": method, "path": path, "query_string": b"", "scheme": "http"},
        "headers": [*CLIENT, *shown, *headers],
    }


REQUESTS = {
    "open": request("GET", "/healthz", ""),
    "owner reads": request("GET", "/api/v0/chats", "owner"),
    "owner acts": request("POST", "/api/v0/desktop/action", "owner", *BODY),
    "chat acts": request(
        *("POST", "/api/v0/chats/c1/messages", "chat"), *BODY, (b"deskhand-chat-id", b"c1")
    ),
    "viewer looks": request("GET", "/api/v0/desktops/d1/desktop/screenshot", "viewer"),
    "dialect acts": request("POST", "/api/v0/desktop/as/osworld/execute", "owner", *BODY),
}


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer nothing, so that only access control is measured."""


async def no_message() -> MutableMapping[str, Any]:
    return {"type": "http.request", "body": b""}


async def no_answer(message: MutableMapping[str, Any]) -> None:
    raise AssertionError(message)


async def kin(kind: str, name: str) -> frozenset[str]:
    return frozenset((name,)) if kind == "chat" else await owned_by_none(kind, name)


async def measured() -> dict[str, float]:
    """Return the microseconds of each kind of request."""
    credentials = Credentials("cafe0123", time.time)
    for token, principal in TOKENS.items():
        credentials.accept_token(token, principal)
    edge = AuthMiddleware(nothing, AccessPolicy(), credentials, kin)
    found = {}
    for name, scope in REQUESTS.items():
        began = time.process_time()
        for _ in range(CALLS):
            await edge({**scope}, no_message, no_answer)
        found[name] = 1e6 * (time.process_time() - began) / CALLS
    return found


def main(*before: str) -> None:
    ways = {"ours": Path(__file__).parent.parent, **({"before": Path(before[0])} if before else {})}
    turns: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(TURNS):
        for way, folder in ways.items():
            command = (sys.executable, __file__, "--once")
            variables = {**os.environ, "PYTHONPATH": str(folder)}
            done = subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE)
            turns[way].append(json.loads(done.stdout))
    for name in REQUESTS:
        times = {way: median(turn[name] for turn in taken) for way, taken in turns.items()}
        print(f"  {name:14}", *(f"{way} {spent:6.1f} us" for way, spent in times.items()))


if __name__ == "__main__":
    if "--once" in sys.argv:
        print(json.dumps(asyncio.run(measured())))
    else:
        main(*sys.argv[1:])
