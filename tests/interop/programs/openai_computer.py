"""Uses a desktop as a computer of OpenAI's Agents SDK.

Usage: openai_computer.py ROOT URL TOKEN; ROOT is the checkout with ``examples`` and ``deskhand``.
"""

import asyncio
import base64
import runpy
import sys

from agents import ComputerTool


async def main(root: str, url: str, token: str) -> None:
    """Call all members of the example's computer."""
    sys.path.insert(0, root)
    example = runpy.run_path(f"{root}/examples/openai_agents_computer.py")
    # The path above must be set first.
    desktop = example["AsyncDesktop"].connect(url, token)
    async with desktop:
        computer = example["DeskhandComputer"](desktop)
        assert ComputerTool(computer).computer is computer
        assert (computer.environment, computer.dimensions) == ("ubuntu", (1280, 720))
        assert base64.b64decode(await computer.screenshot())[:4] == b"\x89PNG"
        for button in ("left", "right", "wheel", "back", "forward"):
            await computer.click(600, 300, button)
        await computer.keypress(["Escape"])
        await computer.double_click(600, 301)
        await computer.scroll(600, 300, 120, -120)
        await computer.drag([(600, 300), (620, 320)])
        await computer.type("a")
        await computer.keypress(["ctrl", "c"])
        await computer.wait()
        await computer.move(610, 310)
        assert tuple(await desktop.cursor()) == (610, 310)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
