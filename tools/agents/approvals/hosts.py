"""Hosts of addresses, in the normal form in which a browser opens them (WHATWG URL). Pure.

The parser is that of the URL standard, as browsers have it: it knows user information, backslashes,
percent-encoding, IDNA, and IPv4 addresses in other spellings. The dot of the root is left out,
which is no part of a name in `domains`.
"""

import re
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address

from ada_url import URL

UNKNOWN = "?"
"""Host of an address that cannot be parsed: no domain contains it."""

_IN_TEXT = re.compile(
    # The last @ before a path ends the user information, which may contain what ends an address.
    r"\b(?:https?|ftps?|wss?|ssh|git):[/\\]+(?:[^\s/\\?#]*@)?[^\s'\"<>|;)]*",
    re.IGNORECASE,
)
_WRAPPED = re.compile(r"(?:view-source:|blob:)+", re.IGNORECASE)
_REMOTE = re.compile(r"(?:https?|wss?|ftp):", re.IGNORECASE)
_LOCAL = re.compile(r"/|(?:file|about|data|javascript|chrome|devtools|mailto|tel):", re.IGNORECASE)
_HISTORY = frozenset(("back", "forward", "reload"))
"""Words that the action ``navigate`` takes beside addresses."""
_QUAD = re.compile(r"\d+(?:\.\d+){3}")
_DOTS = dict.fromkeys(map(ord, "\u3002\uff0e\uff61"), ".")
"""Full stops that separate labels beside the ASCII one (UTS 46)."""
_MARKED = re.compile(r"[/\\@]|:\d|^localhost$", re.IGNORECASE)
"""Parts that make an address of a text, which an address bar searches for otherwise."""
_FILES = re.compile(r"[~.]|[^/]*\.(?:x?html?|pdf|svg|png|jpe?g|txt|xml|json|csv)$", re.IGNORECASE)


def hosts_in(text: str) -> tuple[str, ...]:
    """Return the hosts of the URLs in a text."""
    return tuple(_host(url) or UNKNOWN for url in _IN_TEXT.findall(text))


def navigated_host(address: str) -> str:
    """Return the host that a browser opens for an address; empty for none.

    The scheme may be left out, as in an address bar.
    """
    text = _WRAPPED.sub("", address.strip(), count=1)
    if text.lower() in _HISTORY or _LOCAL.match(text):
        return ""
    return _host(text if _REMOTE.match(text) else f"http://{text}")


def typed_hosts(text: str) -> tuple[str, ...]:
    """Return the hosts that an address bar may open for a text; none if it searches for it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = (_typed(part) for line in lines for part in dict.fromkeys((line, line.split()[0])))
    return tuple(dict.fromkeys(host for host in found if host))


def started_host(argument: str) -> str:
    """Return the host that a browser opens for an argument of its program; empty for a file."""
    if argument.startswith("-") or (_FILES.match(argument) and not _REMOTE.match(argument)):
        return ""
    return _typed(argument)


def within(host: str, domains: Collection[str]) -> bool:
    """Return whether a host is one of the domains, or a subdomain of one."""
    return any(host == one or host.endswith(f".{one}") for one in domains)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def _typed(text: str) -> str:
    host = navigated_host(text)
    if _REMOTE.match(_WRAPPED.sub("", text, count=1)) or _MARKED.search(text):
        return host
    if isinstance(_address(host), IPv4Address):
        # An address bar searches for ``3.5``, which is an address too.
        return host if _QUAD.match(text.translate(_DOTS)) else ""
    return host if "." in host or ":" in host else ""


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


def _host(url: str) -> str:
    try:
        return URL(url).hostname.removesuffix(".")
    except ValueError:
        return ""
