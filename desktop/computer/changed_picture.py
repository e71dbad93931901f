"""A screenshot that is taken when the screen has changed."""

import time
from collections.abc import Callable, Container

from deskhand.desktop.screenshots.options import View

from .computer import Computer
from .outcomes import ScreenshotResult


async def changed_picture(
    computer: Computer,
    wanted: View,
    known: Container[str],
    wait: float,
    clock: Callable[[], float] = time.monotonic,
) -> ScreenshotResult:
    """Take a screenshot that the caller does not have, or the present one after ``wait`` seconds.

    ``known`` are the ETags that the caller has. Cancelling takes none.

    Raises:
        HumanInControl: While a person has control in privacy mode.
    """
    if not wait:
        return await computer.picture(wanted, known)
    end = clock() + wait
    # Before the first screenshot: a change after it must not be missed.
    async with computer.observer.watching() as (damage, _):
        while True:
            taken = await computer.picture(wanted, known)
            remaining = end - clock()
            if taken.data is not None or remaining <= 0:
                return taken
            await damage.next(remaining)
