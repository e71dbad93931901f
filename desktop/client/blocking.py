"""Client for programs without an event loop: a blocking portal runs one in its own thread."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from anyio.from_thread import BlockingPortal, start_blocking_portal

from deskhand.desktop.server_trust.server_trust import ServerTrust

from .http import DesktopClient, HttpReply
from .lines import StreamedLines


class BlockingClient:
    """:class:`DesktopClient` without ``await``. A context manager."""

    def __init__(self, address: str, token: str, trust: ServerTrust | None = None) -> None:
        self._address = address
        self._token = token
        self._trust = trust
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        # The portal is entered first and so left last: closing the client needs its event loop.
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._client = self._portal.call(DesktopClient, self._address, self._token, self._trust)
        self._stack.callback(self._portal.call, self._client.close)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; twice is fine."""
        self._stack.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        """Send one request and return its JSON body, or its bytes if it is not JSON."""
        return self._portal.call(
            partial(
                self._client.request,
                method,
                path,
                json=json,
                content=content,
                params=params,
                headers=headers,
                timeout=timeout,
            )
        )

    def reply(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> HttpReply:
        """Send one request and return its answer undecoded, unless it is an error."""
        return self._portal.call(
            partial(
                self._client.reply,
                method,
                path,
                json=json,
                content=content,
                params=params,
                headers=headers,
                timeout=timeout,
            )
        )

    @contextmanager
    def lines(
        self, path: str, headers: Mapping[str, str] | None = None
    ) -> Iterator["BlockingLines"]:
        """Read a response body line by line while it is being received."""
        opening = self._client.lines(path, headers)
        # The portal enters and leaves in the same task, as anyio requires of cancel scopes.
        with self._portal.wrap_async_context_manager(opening) as lines:
            yield BlockingLines(self._portal, lines)

    def download(self, path: str, to: Path) -> int:
        """Write a body to a file and return its length; a broken-off download leaves no file."""
        return self._portal.call(self._client.download, path, to)


class BlockingLines:
    """Lines of a response body that is still being received."""

    def __init__(self, portal: BlockingPortal, lines: StreamedLines) -> None:
        self._portal = portal
        self._lines = lines

    def next(self, timeout: float | None = None) -> str | None:
        """Return the next line, None at the end; raises TimeoutError."""
        return self._portal.call(self._lines.next, timeout)
