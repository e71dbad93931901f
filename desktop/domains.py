"""Hosts of web pages and the domains that they belong to."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_DOMAIN = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
LONGEST = 253
"""Characters of a domain name as text: the 255 octets of RFC 1035 (2.3.4) without the root."""


def is_domain(text: str) -> bool:
    """Return True if the text is a host name in lower case, IDNA-encoded (``xn--``)."""
    return len(text) <= LONGEST and _DOMAIN.fullmatch(text) is not None


def host_of(address: str) -> str:
    """Return the host of a page's URL; empty for a URL that has none or cannot be parsed."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or host is None:
        return ""
    # A fully qualified name may end with the root's dot, which browsers keep in the URL.
    host = host.removesuffix(".")
    return host if is_domain(host) else ""


def belongs(host: str, domains: Iterable[str]) -> bool:
    """Return True if a host equals one of the domains or is a subdomain of one."""
    return bool(host) and any(host == one or host.endswith(f".{one}") for one in domains)
