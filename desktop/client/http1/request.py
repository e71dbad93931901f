"""Requests of HTTP/1.1 as bytes (RFC 9112). Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

_PLAIN = re.compile(r"/[\w/.~:@!$&'()*+,;=%?-]*", re.ASCII)
"""Targets that need no quoting."""
_QUOTED = "/.~:@!$&'()*+,;=%?-"
_BREAKS = re.compile(r"[\r\n\0]")
JSON = "application/json"
LAST_CHUNK = b"0\r\n\r\n"


@dataclass(frozen=True)
class ClientRequest:
    """One request, with its whole content or before it."""

    method: str
    target: str
    fields: Mapping[str, str]
    content: bytes | None = None
    has_upload: bool = False
    """True if the content follows, in chunks where the fields do not name its length."""

    @property
    def is_chunked(self) -> bool:
        """True if content that follows is sent in chunks."""
        return self.has_upload and not self._names_length

    @property
    def framing(self) -> str:
        """The field that ends the content; of none but GET and HEAD the length is named if 0."""
        if self.is_chunked:
            return "Transfer-Encoding: chunked\r\n"
        is_empty = self.content is None and self.method in ("GET", "HEAD")
        if is_empty or self._names_length:
            return ""
        return f"Content-Length: {len(self.content or b'')}\r\n"

    @property
    def _names_length(self) -> bool:
        return any(name.lower() == "content-length" for name in self.fields)


class RequestHeads:
    """Encodes the requests to one service, whose constant fields are encoded once.

    ``path`` is that of the service, before all targets.
    """

    def __init__(self, host: str, path: str, fields: Mapping[str, str]) -> None:
        self._path = path
        self._constant = f" HTTP/1.1\r\n{_lines({'Host': host, **fields})}"

    def encoded(self, request: ClientRequest) -> bytes:
        """Return the bytes of a request, without content that follows.

        Raises:
            ValueError: If a field contains the end of a line, or a character beyond Latin-1.
        """
        begin = f"{request.method} {self._path}{request.target}{self._constant}"
        head = f"{begin}{_lines(request.fields)}{request.framing}\r\n"
        return head.encode("latin-1") + (request.content or b"")


def target(path: str, params: Mapping[str, str] | None) -> str:
    """Return a path with parameters as the target of a request."""
    quoted = path if _PLAIN.fullmatch(path) else quote(path, safe=_QUOTED)
    if not params:
        return quoted
    return f"{quoted}{'&' if '?' in quoted else '?'}{urlencode(params)}"


def framed(data: bytes) -> bytes:
    """Return a chunk of content (RFC 9112, section 7.1); it must not be empty."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def json_body(value: Any) -> bytes:
    """Return a value as JSON without spaces, in UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode()


def _lines(fields: Mapping[str, str]) -> str:
    lines = []
    for name, value in fields.items():
        if _BREAKS.search(name) or _BREAKS.search(value):
            raise ValueError(f"the field {name!r} contains the end of a line")
        lines.append(f"{name}: {value}\r\n")
    return "".join(lines)
