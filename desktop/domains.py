"""Which hosts belong to which domains."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_DOMAIN = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
LONGEST = 253


def is_domain(text: str) -> bool:
    """Whether it is a host's name as pages have it: small letters, and ``xn--`` for all others."""
    return len(text) <= LONGEST and _DOMAIN.fullmatch(text) is not None


def host_of(address: str) -> str:
    """The host of a page; empty if it came from none, or cannot be told."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or host is None:
        return ""
    host = host.removesuffix(".")
    return host if is_domain(host) else ""


def belongs(host: str, domains: Iterable[str]) -> bool:
    """Whether a host is one of the domains, or in one of them."""
    return bool(host) and any(host == one or host.endswith(f".{one}") for one in domains)
