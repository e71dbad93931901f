"""Response headers for bytes that an agent wrote, so that they cannot act in a person's browser.

The pages, the API and the files share one origin. HTML or SVG of an agent that a browser rendered
there could call the API with the person's session. Therefore only types without active content are
shown, all others are downloaded, and each response has a sandbox as its content security policy.
"""

import re
from urllib.parse import quote

# Types that a browser renders without running scripts in them.
SHOWN = frozenset({"image/jpeg", "image/png", "image/webp", "text/plain", "text/vtt", "video/mp4"})
# Types of the API's own responses, for programs; a browser shows them as text.
SPOKEN = frozenset({"application/json", "text/event-stream"})

_ATTACHED = re.compile(r'\s*attachment\s*;\s*filename="([A-Za-z0-9._ -]{1,200})"', re.IGNORECASE)
_MEDIA_TYPE = re.compile(r"[a-z0-9.+-]+/[a-z0-9.+-]+")
_FALLBACK = "application/octet-stream"


def media_type(declared: str) -> str:
    """Return the type without parameters, in lower case; a generic one if it is malformed."""
    bare = declared.partition(";")[0].strip().lower()
    return bare if _MEDIA_TYPE.fullmatch(bare) else _FALLBACK


def content_type(declared: str) -> str:
    """Return the value of ``Content-Type`` for bytes of a declared type."""
    bare = media_type(declared)
    # Without a charset the browser guesses one (WHATWG Encoding), often a legacy one of its locale.
    return f"{bare}; charset=utf-8" if bare.startswith("text/") else bare


def untrusted(
    declared: str, name: str = "", *, download: bool = False, api: bool = False
) -> dict[str, str]:
    """Return the headers for bytes that an agent or a desktop can influence.

    ``name`` is offered when the file is saved; ``api`` permits the types of API responses.
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
    """Return the headers for a response of a desktop service, in place of its own."""
    named = _ATTACHED.match(disposition)
    name = named[1] if named else ""
    return untrusted(declared, name, download=named is not None, api=True)


def _disposition(kind: str, name: str) -> str:
    """Return the value of ``Content-Disposition`` (RFC 6266).

    A name that is not plain ASCII has two forms: a fallback, and the real one in UTF-8.
    """
    # Neither separators nor control characters: the name must stay one part of a path.
    bare = "".join(c for c in name if c.isprintable()).replace("/", "_").replace("\\", "_")
    if not bare:
        return kind
    plain = "".join(c if " " <= c <= "~" and c != '"' else "_" for c in bare)
    if plain == bare:
        return f'{kind}; filename="{plain}"'
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(bare, safe='')}"
