"""Hosts of web pages and the domains that they belong to.

A page that was not encrypted may come from any host: a program on the way, or the browser's own
resolver rules, can imitate its name. So a domain admits pages with the scheme ``https`` only, and
one that is written as ``http://intranet.example`` admits those with ``http`` too.
"""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_DOMAIN = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
UNENCRYPTED = "http://"
LONGEST = 253
"""Characters of a domain name as text: the 255 octets of RFC 1035 (2.3.4) without the root."""


def is_domain(text: str) -> bool:
    """Return True if the text is a host name in lower case, IDNA-encoded (``xn--``)."""
    return len(text) <= LONGEST and _DOMAIN.fullmatch(text) is not None


def is_domain_entry(text: str) -> bool:
    """Return True if the text is a domain, or one with ``http://`` before it."""
    return is_domain(text.removeprefix(UNENCRYPTED))


def host_of(address: str) -> str:
    """Return the host of a page's URL; empty for a URL that has none or cannot be parsed.

    That of an unencrypted page has ``http://`` before it. An IPv6 address stays in brackets.
    """
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or host is None:
        return ""
    if ":" in host:
        # The parser has checked that brackets enclose an address.
        host = f"[{host}]"
    else:
        # A fully qualified name may end with the root's dot, which browsers keep in the URL.
        host = host.removesuffix(".")
        if not is_domain(host):
            return ""
    return host if parts.scheme == "https" else f"{UNENCRYPTED}{host}"


def belongs(host: str, domains: Iterable[str]) -> bool:
    """Return True if a host of `host_of` equals one of the domains or is a subdomain of one."""
    name = host.removeprefix(UNENCRYPTED)
    unencrypted = name != host
    names = (
        one.removeprefix(UNENCRYPTED)
        for one in domains
        if not unencrypted or one.startswith(UNENCRYPTED)
    )
    return bool(name) and any(name == one or name.endswith(f".{one}") for one in names)
