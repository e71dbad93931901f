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


@dataclass(frozen=True)
class WholeRequest:
    """One request with its whole content."""

    method: str
    target: str
    fields: Mapping[str, str]
    content: bytes | None = None


class RequestHeads:
    """Encodes the requests to one service, whose constant fields are encoded once.

    ``path`` is that of the service, before all targets.
    """

    def __init__(self, host: str, path: str, fields: Mapping[str, str]) -> None:
        self._path = path
        self._constant = f" HTTP/1.1\r\n{_lines({'Host': host, 'Accept': '*/*', **fields})}"

    def encoded(self, request: WholeRequest) -> bytes:
        """Return the bytes of a request; of none but GET the length is named where it is 0.

        Raises:
            ValueError: If a field contains the end of a line, or a character beyond ASCII.
        """
        content = request.content or b""
        is_empty = request.content is None and request.method == "GET"
        length = "" if is_empty else f"Content-Length: {len(content)}\r\n"
        begin = f"{request.method} {self._path}{request.target}{self._constant}"
        return f"{begin}{_lines(request.fields)}{length}\r\n".encode("ascii") + content


def target(path: str, params: Mapping[str, str] | None) -> str:
    """Return a path with parameters as the target of a request."""
    quoted = path if _PLAIN.fullmatch(path) else quote(path, safe=_QUOTED)
    if not params:
        return quoted
    return f"{quoted}{'&' if '?' in quoted else '?'}{urlencode(params)}"


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
