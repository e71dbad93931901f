"""A desktop as the computer of an agent of OpenAI's Agents SDK: ``ComputerTool(computer)``."""

import base64
import sys

from deskhand import AsyncDesktop

USAGE = "usage: from openai_agents_computer import DeskhandComputer"
try:
    from agents import AsyncComputer
except ModuleNotFoundError as missing:
    sys.exit(f"{USAGE}; needs the package openai-agents ({missing})")


class DeskhandComputer(AsyncComputer):  # type: ignore[misc]
    """Implements ``AsyncComputer``; ``dimensions`` are those of ``desktop.status().model_size``."""

    environment = "ubuntu"
    dimensions = (1280, 720)

    def __init__(self, desktop: AsyncDesktop, dimensions: tuple[int, int] = dimensions) -> None:
        self._desktop, self.dimensions = desktop, dimensions

    async def screenshot(self) -> str:
        return base64.b64encode((await self._desktop.screenshot()).data).decode()

    async def click(self, x: int, y: int, button: str) -> None:
        kind = "middle" if button == "wheel" else button
        await self._desktop.act(f"{kind}_click", coordinate=[x, y])

    async def double_click(self, x: int, y: int) -> None:
        await self._desktop.mouse.double_click(x, y)

    async def scroll(self, x: int, y: int, scroll_x: int, scroll_y: int) -> None:
        await self._desktop.mouse.scroll(x, y, by=(scroll_x, scroll_y))

    async def type(self, text: str) -> None:
        await self._desktop.keyboard.type(text)

    async def wait(self) -> None:
        await self._desktop.wait(0.5)

    async def move(self, x: int, y: int) -> None:
        await self._desktop.mouse.move(x, y)

    async def keypress(self, keys: list[str]) -> None:
        await self._desktop.keyboard.press("+".join(keys))

    async def drag(self, path: list[tuple[int, int]]) -> None:
        await self._desktop.mouse.drag(*path)


if __name__ == "__main__":
    sys.exit(USAGE)
