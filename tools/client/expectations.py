"""Assertions on a desktop for tests, which wait until they hold."""

from deskhand.desktop.client.awaited import Awaited
from deskhand.desktop.remote import Desktop

from .errors import ConditionNotMet, ExpectationFailed

USUAL_SECONDS = 10.0


class Expectation:
    """What a test expects of a desktop. Each method raises `ExpectationFailed` at the timeout."""

    def __init__(self, desktop: Desktop, timeout: float) -> None:
        self._desktop = desktop
        self._timeout = timeout

    async def to_show(self, text: str) -> Awaited:
        """Expect a text: part of the name of a visible widget, in any case."""
        return await self._awaited(text=text)

    async def to_have_window(self, title: str) -> Awaited:
        """Expect a window with ``title`` in its title."""
        return await self._awaited(window=title)

    async def to_have_widget(self, name: str, role: str = "") -> Awaited:
        """Expect a widget with that name, and that role if one is given."""
        return await self._awaited(widget=name, role=role)

    async def to_have_colour(
        self, colour: str, region: tuple[int, int, int, int] | None = None
    ) -> Awaited:
        """Expect a pixel of a colour, as ``#ff8000``, on the screen or in a region."""
        return await self._awaited(colour=colour, region=region)

    async def _awaited(
        self, *, region: tuple[int, int, int, int] | None = None, **wanted: str
    ) -> Awaited:
        try:
            wait = self._desktop.wait_until
            return await wait(region=region, timeout=self._timeout, **wanted)
        except ConditionNotMet as error:
            raise ExpectationFailed(str(error)) from None


def expect(desktop: Desktop, *, timeout: float = USUAL_SECONDS) -> Expectation:
    """Return the assertions on a desktop, which wait ``timeout`` seconds."""
    return Expectation(desktop, timeout)
