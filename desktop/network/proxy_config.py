"""Files and variables with which a desktop in the mode ``list`` uses its proxy. Pure.

The proxy is tinyproxy. It runs in the desktop's namespace as a user of its own, the only one that
the rules let out, and judges the host of each request by its filter.
"""

import re
from collections.abc import Iterable

from .egress import Grant

PROXY = "tinyproxy"
PROXY_PORT = 3128
PROXY_URL = f"http://127.0.0.1:{PROXY_PORT}"

READY = "Accepting connections"
"""Part of the log line that tinyproxy writes when it listens."""

_REFUSAL = re.compile(r'Proxying refused on filtered (?:domain|url) "(?P<host>[^"]*)"')


def configuration(filter_path: str, page_path: str) -> str:
    """Return the file for ``tinyproxy -c``."""
    lines = (
        f"Port {PROXY_PORT}",
        "Listen 127.0.0.1",
        "Timeout 600",
        "MaxClients 256",
        # At this level, the last one, the proxy logs that it listens.
        "LogLevel Info",
        "DisableViaHeader Yes",
        f'Filter "{filter_path}"',
        "FilterDefaultDeny Yes",
        f'ErrorFile 403 "{page_path}"',
    )
    return "".join(f"{line}\n" for line in lines)


def filter_file(allow: Iterable[str]) -> str:
    """Return the filter, one basic regular expression (regex(7)) for each name."""
    return "".join(f"{_expression(name)}\n" for name in allow)


def proxy_environment(grants: Iterable[Grant]) -> dict[str, str]:
    """Return the variables by which commands find the proxy; grants are reached without it."""
    direct = ",".join(bypassed(grants))
    spellings = {"http_proxy": PROXY_URL, "https_proxy": PROXY_URL, "no_proxy": direct}
    return spellings | {name.upper(): value for name, value in spellings.items()}


def bypassed(grants: Iterable[Grant]) -> tuple[str, ...]:
    """Return the hosts that are reached without the proxy."""
    hosts = dict.fromkeys(("localhost", "127.0.0.1", "::1", *(grant.host for grant in grants)))
    return tuple(hosts)


def refused_host(line: str) -> str | None:
    """Return the host that was refused, from a line of the proxy's log; None for other lines."""
    found = _REFUSAL.search(line)
    return found["host"] if found else None


def _expression(name: str) -> str:
    escaped = name.removeprefix("*.").replace(".", r"\.")
    return rf"^.*\.{escaped}$" if name.startswith("*.") else f"^{escaped}$"
