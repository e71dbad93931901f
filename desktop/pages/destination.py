"""The address that a model navigates to, as it is opened, or why it is not. Pure."""

import re
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from .errors import BrowserCallFailed

HISTORY = ("back", "forward", "reload")
REFUSED = "refused_address"
_OPENED = ("http", "https", "file", "data", "about", "blob")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)
_PLAIN = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?(/|$|\?|#)", re.IGNORECASE)
LONGEST_URL = 8_000


def destination(wanted: str) -> str:
    """Return ``back``, ``forward``, ``reload``, or the whole address to open.

    Raises:
        BrowserCallFailed: If the address is none that an agent may open: pages of the browser
            itself, and scripts.
    """
    text = wanted.strip()
    if text.lower() in HISTORY:
        return text.lower()
    if len(text) > LONGEST_URL:
        raise BrowserCallFailed(400, f"an address has at most {LONGEST_URL} characters.")
    if _PLAIN.match(text):
        text = f"http://{text}"
    elif text.startswith("/"):
        text = f"file://{text}"
    elif not _SCHEME.match(text):
        text = f"https://{text}"
    try:
        parts = urlsplit(text)
    except ValueError:
        raise BrowserCallFailed(400, f"{wanted!r} is no address.") from None
    if parts.scheme.lower() not in _OPENED or (parts.scheme == "about" and text != "about:blank"):
        listed = ", ".join(_OPENED[:4])
        message = f"Addresses of {parts.scheme}: are not opened for an agent; there are {listed}."
        raise BrowserCallFailed(403, message, REFUSED)
    if parts.scheme.lower() in ("http", "https") and not parts.hostname:
        raise BrowserCallFailed(400, f"{wanted!r} is no address.")
    return text


def file_of(address: str) -> PurePosixPath | None:
    """Return the file that an address names; None if it names none."""
    parts = urlsplit(address)
    if parts.scheme.lower() != "file":
        return None
    return PurePosixPath(unquote(parts.path) or "/")
