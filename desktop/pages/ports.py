"""Parts of the desktop that the members of the browser toolset need."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from deskhand.desktop.computer.outcomes import ScreenshotResult
from deskhand.desktop.geometry import Size
from deskhand.desktop.screenshots.options import View

from .page_requests import BrowserPipe
from .uploads import UploadCopies


class PageLease(Protocol):
    """The lease, as pages are subject to it."""

    @property
    def private(self) -> bool:
        """True while only the person in control may see the screen."""

    def acting(self, chat: str) -> AbstractContextManager[None]:
        """Hold the right to act. Raises ``Occupied``."""

    def check_act(self, chat: str) -> None:
        """Check that an agent may act. Raises ``Occupied``."""

    def check_view(self) -> None:
        """Check that agents may see the screen. Raises ``Occupied``."""


class ScreenPictures(Protocol):
    """The computer, as far as it takes pictures."""

    @property
    def size(self) -> Size:
        """Size of the screen."""

    async def picture(self, wanted: View) -> ScreenshotResult:
        """Return a picture of a region of the screen."""


@dataclass(frozen=True)
class PagesDesktop:
    """Ports of one desktop."""

    pipe: Callable[[], BrowserPipe | None]
    lease: PageLease
    pictures: ScreenPictures
    redact: Callable[[str], str]
    """Masks known secrets in a text."""
    refusal: Callable[[str, bool], Sequence[str]]
    """Returns the sentences that refuse an address; none if the network permits it.

    The second argument is whether the browser could not load it."""
    uploads: UploadCopies
    home: Callable[[], Path]
    """Directory below which relative paths are."""
    roots: tuple[str, ...] = ()
    """The only trees whose files may be read; none: all that the agent may read."""
