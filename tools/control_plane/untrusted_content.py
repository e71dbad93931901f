"""Headers that keep bytes which an agent wrote from acting in a person's browser."""

import re
from urllib.parse import quote

# Types that a browser shows without running anything in them.
SHOWN = frozenset({"image/jpeg", "image/png", "image/webp", "text/plain", "text/vtt", "video/mp4"})
# Replies of our own API: text for a program, harmless when shown.
SPOKEN = frozenset({"application/json", "text/event-stream"})

_ATTACHED = re.compile(r'\s*attachment\s*;\s*filename="([A-Za-z0-9._ -]{1,200})"', re.IGNORECASE)
_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]+/[a-z0-9.+-]+")
_FALLBACK = "application/octet-stream"


def media_type(declared: str) -> str:
    """Return the bare type in lower case, and one that means nothing if it cannot be read."""
    bare = declared.partition(";")[0].strip().lower()
    return bare if _MEDIA_TYPE.fullmatch(bare) else _FALLBACK


def content_type(declared: str) -> str:
    """Return the value of ``Content-Type`` for bytes that say they are of that type."""
    bare = media_type(declared)
    return f"{bare}; charset=utf-8" if bare.startswith("text/") else bare


def untrusted(
    declared: str, name: str = "", *, download: bool = False, api: bool = False
) -> dict[str, str]:
    """Return the headers for bytes that an agent or a desktop can influence.

    ``name`` is offered when the file is saved; ``api`` says that a program asked our own API.
    """
    shown = SHOWN | SPOKEN if api else SHOWN
    inline = media_type(declared) in shown and not download
    return {
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Content-Disposition": _disposition("inline" if inline else "attachment", name),
    }


def passed(declared: str, disposition: str) -> dict[str, str]:
    """Return the headers for a reply that a desktop service gave, in place of its own."""
    named = _ATTACHED.match(disposition)
    name = named[1] if named else ""
    return untrusted(declared, name, download=named is not None, api=True)


def _disposition(kind: str, name: str) -> str:
    """As RFC 6266: a plain name for all, and the true one where it is not plain."""
    bare = "".join(c for c in name if c.isprintable()).replace("/", "_").replace("\\", "_")
    if not bare:
        return kind
    plain = "".join(c if " " <= c <= "~" and c != '"' else "_" for c in bare)
    if plain == bare:
        return f'{kind}; filename="{plain}"'
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(bare, safe='')}"
