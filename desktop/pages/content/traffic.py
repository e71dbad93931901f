"""Console messages and network requests of a tab since they were last read. Pure."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from .formatting import shortened

Json = dict[str, Any]

MOST_ENTRIES = 500
"""Entries of each kind that wait to be read; the oldest are dropped."""
LONGEST_LINE = 500
LONGEST_URL = 300
_OWN = ("chrome:", "chrome-untrusted:", "chrome-extension:", "devtools:")
"""Addresses of the browser itself, such as the icons of its pages."""


@dataclass
class _Request:
    method: str
    url: str
    began: float
    status: str = "pending"
    kind: str = ""
    ended: float | None = None

    def line(self) -> str:
        seconds = "" if self.ended is None else f" {1000 * (self.ended - self.began):.0f} ms"
        kind = f" {self.kind}" if self.kind else ""
        return f"{self.method} {shortened(self.url, LONGEST_URL)} {self.status}{kind}{seconds}"


@dataclass
class TabTraffic:
    """What one tab wrote and requested; ``received`` takes its events."""

    console: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_ENTRIES))
    _requests: dict[str, _Request] = field(default_factory=dict)
    _redirects: int = 0

    def received(self, method: str, parameters: Json) -> None:
        """Take an event of the domains Runtime, Log or Network."""
        if method == "Runtime.consoleAPICalled":
            self._write(str(parameters.get("type")), _texts(parameters.get("args")))
        elif method == "Runtime.exceptionThrown":
            details = _object(parameters, "exceptionDetails")
            thrown = _object(details, "exception").get("description") or details.get("text")
            self._write("error", str(thrown))
        elif method == "Log.entryAdded":
            entry = _object(parameters, "entry")
            self._write(str(entry.get("level")), f"{entry.get('text')} {entry.get('url', '')}")
        elif method.startswith("Network."):
            self._network(method.removeprefix("Network."), parameters)

    def read_console(self) -> str:
        """Return the lines since the last read."""
        lines = [*self.console]
        self.console.clear()
        return "\n".join(lines)

    def read_network(self) -> str:
        """Return one line for each request since the last read; those without an answer stay."""
        lines = [one.line() for one in self._requests.values()]
        self._requests = {
            name: one for name, one in self._requests.items() if one.status == "pending"
        }
        return "\n".join(lines)

    def _write(self, kind: str, text: str) -> None:
        self.console.append(f"[{kind}] {shortened(text, LONGEST_LINE)}")

    def _network(self, event: str, parameters: Json) -> None:
        name, time = str(parameters.get("requestId")), _number(parameters.get("timestamp"))
        if event == "requestWillBeSent":
            request = _object(parameters, "request")
            method, url = str(request.get("method")), str(request.get("url"))
            if url.startswith(_OWN):
                return
            before = self._requests.pop(name, None)
            if before is not None:
                # A redirect goes on with the same id.
                before.status, before.ended = "redirected", time
                self._redirects += 1
                self._requests[f"{name} redirect {self._redirects}"] = before
            self._requests[name] = _Request(method, url, time)
            if len(self._requests) > MOST_ENTRIES:
                del self._requests[next(iter(self._requests))]
            return
        request_ = self._requests.get(name)
        if request_ is None:
            return
        if event == "responseReceived":
            response = _object(parameters, "response")
            request_.status = str(response.get("status"))
            request_.kind = str(response.get("mimeType") or "")
        elif event == "loadingFailed":
            request_.status, request_.ended = f"failed: {parameters.get('errorText')}", time
        elif event == "loadingFinished":
            request_.ended = time


def _texts(arguments: object) -> str:
    listed = arguments if isinstance(arguments, list) else []
    return " ".join(_text(one) for one in listed if isinstance(one, dict))


def _text(argument: Json) -> str:
    value = argument.get("value", argument.get("description", argument.get("type")))
    return str(value)


def _object(value: Json, name: str) -> Json:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
