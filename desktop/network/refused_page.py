"""The page that the browser shows for an address that a desktop may not open. Pure.

Over http it is the answer of the proxy, with the status 403. Over https the proxy can only refuse
CONNECT, whose body browsers do not show (RFC 9110, section 9.3.6); there the service writes the
same text into the browser's own error page.
"""

from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from .egress import Egress, grant_for
from .proxy_config import bypassed

TITLE = "This desktop may not open this address"
_ADVICE = "The person who runs Deskhand can change it."
_MOST_NAMES = 20

EXPLAINED: Mapping[str, tuple[str, ...]] = {
    "internet": ("http", "https"),
    "list": ("https",),
    "none": ("http", "https"),
}
"""Schemes of refused addresses that need a page, by mode; http in a list has the proxy's."""

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body style="font: 16px sans-serif; max-width: 40em; margin: 4em auto">
<h1>{title}</h1>
<p>{sentence}</p>
<p>{advice}</p>
<plaintext style="white-space: pre-wrap">{address}
"""


def refusal(egress: Egress, address: str, failed: bool = True) -> Sequence[str]:
    """Return the texts for an address of a page: title, then paragraphs; empty if it is allowed.

    ``failed`` is False if the page may have been loaded: a loopback address is the desktop's own,
    too.
    """
    if egress.mode == "internet":
        return _of_host(egress, address) if failed else ()
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return ()
    if (
        parts.scheme not in EXPLAINED.get(egress.mode, ())
        or not host
        or _direct(egress, host)
        or egress.lists(host)
    ):
        return ()
    return TITLE, _sentence(host, egress.mode, egress.allow), _ADVICE


def _of_host(egress: Egress, address: str) -> Sequence[str]:
    """Return the texts for an address of the host that only a grant could lead to."""
    grant = grant_for(address)
    granted = {(host, one.port) for one in egress.grants for host in one.addresses}
    if grant is None or any((host, grant.port) in granted for host in grant.addresses):
        return ()
    # Nothing else of the address is in the command, which people paste into a shell.
    command = f"deskhand open {urlsplit(address).scheme}://{grant}"
    return (
        TITLE,
        f"Nothing answers at {grant} on this desktop, and it may not reach this address of its "
        f"host or of the host's networks (egress, mode {egress.mode}).",
        f"The person who runs Deskhand can open it on a new desktop that may reach it: {command}",
    )


def proxy_page(allow: Sequence[str]) -> str:
    """Return the page of the status 403; tinyproxy replaces ``{url}``, tinyproxy.conf(5)."""
    # tinyproxy escapes no address, and nothing ends the element plaintext (HTML, 13.2.5.5).
    return _PAGE.format(
        title=TITLE,
        sentence=_sentence("of the address below", "list", allow),
        advice=_ADVICE,
        address="{url}",
    )


def _sentence(host: str, mode: str, allow: Sequence[str]) -> str:
    if mode == "none":
        return (
            f"The host {host} cannot be reached: this desktop has no network (egress, mode none)."
        )
    names = ", ".join(allow[:_MOST_NAMES])
    more = len(allow) - _MOST_NAMES
    names += f" and {more} more" if more > 0 else ""
    return (
        f"The host {host} is not among the names that this desktop may reach "
        f"(egress, mode list: {names or 'no name'})."
    )


def _direct(egress: Egress, host: str) -> bool:
    """Return True for a host that is reached without the proxy: a grant, or the desktop itself."""
    if host in bypassed(egress.grants) or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
