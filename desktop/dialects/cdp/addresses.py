"""The JSON by which clients of CDP find the browser and its pages. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

Json = dict[str, Any]

PATH = "/api/v0/desktop/as/cdp"
_BASE = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_LISTED = ("page", "iframe", "worker", "service_worker", "shared_worker", "background_page")


def base_of(query: str, proxied: str, scheme: str, host: str) -> str:
    """Return the address, with ``ws`` as its scheme, below which the caller finds ``/devtools``.

    ``query`` is the host and port of a local forward, which only a loopback address can be;
    ``proxied`` the address of the control plane's route, if it has passed the request on.
    """
    if _BASE.fullmatch(query):
        return f"ws://{query}"
    if proxied:
        return f"{proxied}/as/cdp"
    return f"{'wss' if scheme in ('https', 'wss') else 'ws'}://{host}{PATH}"


def version(answer: Mapping[str, Any], base: str, browser_id: str) -> Json:
    """Return the body of ``/json/version`` from the answer of ``Browser.getVersion``."""
    names = {
        "Browser": "product",
        "Protocol-Version": "protocolVersion",
        "User-Agent": "userAgent",
        "V8-Version": "jsVersion",
        "WebKit-Version": "revision",
    }
    found = {name: str(answer.get(field, "")) for name, field in names.items()}
    return {**found, "webSocketDebuggerUrl": f"{base}/devtools/browser/{browser_id}"}


def listing(targets: Iterable[Mapping[str, Any]], base: str) -> list[Json]:
    """Return the body of ``/json/list`` from the targets of ``Target.getTargets``."""
    return [
        {
            "id": target["targetId"],
            "type": target["type"],
            "title": target.get("title", ""),
            "url": target.get("url", ""),
            "webSocketDebuggerUrl": f"{base}/devtools/page/{target['targetId']}",
        }
        for target in targets
        if target.get("type") in _LISTED
    ]
