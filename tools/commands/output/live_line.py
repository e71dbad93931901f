"""One line at the bottom of the terminal that shows the present, below lines that stay."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from .table import shortened

REFRESHES = 4
"""A second; the line shows whole seconds."""


class LiveLine:
    """A line that is drawn again as time passes; a context manager.

    ``text`` returns what the line shows now. It is called in a thread.
    """

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text
        self._console = Console(highlight=False)
        self._live: Live | None = None

    def __enter__(self) -> Self:
        self.resume()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.pause()

    def print(self, line: str) -> None:
        """Print a line that stays, above the live one."""
        self._console.print(line, markup=False, soft_wrap=True)

    def resume(self) -> None:
        """Show the line again."""
        if self._live is None:
            self._live = Live(
                console=self._console,
                get_renderable=self._rendered,
                refresh_per_second=REFRESHES,
                transient=True,
            )
            self._live.start()

    def pause(self) -> None:
        """Remove the line, as while something is typed; twice is fine."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _rendered(self) -> RenderableType:
        return Text(shortened(self._text(), self._console.width - 1), style="dim")
