"""Function calls of Gemini's computer use, whose points are on a grid of 1000 x 1000."""

import sys
from typing import Any

from deskhand import AsyncDesktop, Done

USAGE = "usage: from google_grid import perform"
GRID = 1000
POINTING = {"click_at": "left_click", "hover_at": "mouse_move"}
KEYS = {"go_back": "alt+Left", "go_forward": "alt+Right"}
SEARCH = "https://www.google.com"


async def perform(desktop: AsyncDesktop, name: str, call: dict[str, Any]) -> Done:
    """Perform one call, as ``click_at``; the result has a picture of the settled screen."""
    size = (await desktop.status()).model_size

    def point(x: str = "x", y: str = "y") -> list[int]:
        return [int(call[x]) * size.width // GRID, int(call[y]) * size.height // GRID]

    match name:
        case "click_at" | "hover_at":
            return await desktop.act(POINTING[name], True, coordinate=point())
        case "drag_and_drop":
            path = [point(), point("destination_x", "destination_y")]
            return await desktop.act("left_click_drag", True, path=path)
        case "scroll_at" | "scroll_document":
            at = point() if name == "scroll_at" else [size.width // 2, size.height // 2]
            side = size.width if call["direction"] in ("left", "right") else size.height
            turn = {"scroll_pixels": int(call.get("magnitude", 800)) * side // GRID}
            turn |= {"scroll_direction": call["direction"]}
            return await desktop.act("scroll", True, coordinate=at, **turn)
        case "key_combination" | "go_back" | "go_forward":
            return await desktop.keyboard.press(KEYS.get(name) or call["keys"], observe=True)
        case "type_text_at":
            return await type_at(desktop, point(), call)
        case "open_web_browser":
            await desktop.applications.launch("browser")
        case "search" | "navigate":
            await desktop.applications.open_url(SEARCH if name == "search" else call["url"])
        case _ if name != "wait_5_seconds":
            raise ValueError(f"unknown function: {name}")
    return await desktop.act("wait", True, duration=5 if name == "wait_5_seconds" else 1)


async def type_at(desktop: AsyncDesktop, point: list[int], call: dict[str, Any]) -> Done:
    """Type into the field at a point, by default instead of its text and with Return."""
    await desktop.mouse.click(*point)
    if call.get("clear_before_typing", True):
        await desktop.keyboard.press("ctrl+a Delete")
    end = "\n" if call.get("press_enter", True) else ""
    return await desktop.keyboard.type(call["text"] + end, observe=True)


if __name__ == "__main__":
    sys.exit(USAGE)
