"""Requests of HTTP/1.1 as bytes (RFC 9112). Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

_PLAIN = re.compile(r"/[\w/.~:@!$&'()*+,;=%?-]*", re.ASCII)
"""Targets that need no quoting."""
_QUOTED = "/.~:@!$&'()*+,;=%?-"
_BREAKS = re.compile(r"[\r\n\0]")
JSON = "application/json"


class RequestHeads:
    """Makes the heads of the requests to one service, whose constant fields are made once."""

    def __init__(self, host: str, fields: Mapping[str, str]) -> None:
        constant = {"Host": host, "Accept": "*/*", **fields}
        self._constant = f" HTTP/1.1\r\n{_lines(constant)}"

    def head(
        self, method: str, target: str, fields: Mapping[str, str], length: int | None
    ) -> bytes:
        """Return the head of a request with a body of this length, None for none.

        Raises:
            ValueError: If a field contains the end of a line, or a character beyond ASCII.
        """
        sized = "" if length is None else f"Content-Length: {length}\r\n"
        return f"{method} {target}{self._constant}{_lines(fields)}{sized}\r\n".encode("ascii")


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
