"""A desktop as the computer of an agent of OpenAI's Agents SDK: ``ComputerTool(computer)``."""

import base64
from typing import Self

from agents import AsyncComputer

from deskhand import AsyncDesktop

CLICKS = {"wheel": "middle_click"}


class DeskhandComputer(AsyncComputer):  # type: ignore[misc]
    """Implements ``AsyncComputer``; points are in the pixels that the model sees."""

    environment = "ubuntu"
    dimensions = (0, 0)

    def __init__(self, desktop: AsyncDesktop) -> None:
        self._desktop = desktop

    async def __aenter__(self) -> Self:
        """Open the desktop, whose size the SDK sends with the first request."""
        await self._desktop.__aenter__()
        size = (await self._desktop.status()).model_size
        self.dimensions = (size.width, size.height)
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close the desktop."""
        await self._desktop.close()

    async def screenshot(self) -> str:
        """Return a PNG in base64."""
        return base64.b64encode((await self._desktop.screenshot()).data).decode()

    async def click(self, x: int, y: int, button: str) -> None:
        """Click with ``left``, ``right``, ``wheel``, ``back`` or ``forward``."""
        await self._desktop.act(CLICKS.get(button, f"{button}_click"), coordinate=[x, y])

    async def double_click(self, x: int, y: int) -> None:
        """Click twice."""
        await self._desktop.mouse.double_click(x, y)

    async def scroll(self, x: int, y: int, scroll_x: int, scroll_y: int) -> None:
        """Scroll by pixels, down and to the right if they are positive."""
        if scroll_y:
            direction = "down" if scroll_y > 0 else "up"
            await self._desktop.mouse.scroll(x, y, direction, pixels=abs(scroll_y))  # type: ignore[arg-type]
        if scroll_x:
            direction = "right" if scroll_x > 0 else "left"
            await self._desktop.mouse.scroll(x, y, direction, pixels=abs(scroll_x))  # type: ignore[arg-type]

    async def type(self, text: str) -> None:
        """Type a text."""
        await self._desktop.keyboard.type(text)

    async def wait(self) -> None:
        """Wait until the screen has settled."""
        await self._desktop.act("wait", {"screenshot": False}, duration=0.5)

    async def move(self, x: int, y: int) -> None:
        """Move the pointer."""
        await self._desktop.mouse.move(x, y)

    async def keypress(self, keys: list[str]) -> None:
        """Press a key, or several at once."""
        await self._desktop.keyboard.press("+".join(keys))

    async def drag(self, path: list[tuple[int, int]]) -> None:
        """Drag along a path with the left button."""
        await self._desktop.mouse.drag(*path)
