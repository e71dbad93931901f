"""Uses a desktop with cua-sandbox: 19 cases. Prints the name of each that succeeded.

Usage: cua_sandbox_client.py URL API_KEY, where URL is one of HTTP or WebSocket
"""

import asyncio
import base64
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from cua_sandbox.sandbox import Sandbox

PNG, JPEG = b"\x89PNG", b"\xff\xd8\xff"
NOTE = "/tmp/cua-note.txt"


class Cases:
    """What a sandbox can do; the names are printed."""

    def __init__(self, sandbox: Any) -> None:
        self.sandbox = sandbox

    async def screen_size(self) -> bool:
        return bool(await self.sandbox.screen.size() == (1920, 1080))

    async def screenshot(self) -> bool:
        picture: bytes = await self.sandbox.screen.screenshot()
        return picture.startswith(PNG)

    async def screenshot_jpeg(self) -> bool:
        picture: bytes = await self.sandbox.screen.screenshot(format="jpeg", quality=70)
        return picture.startswith(JPEG)

    async def screenshot_base64(self) -> bool:
        return base64.b64decode(await self.sandbox.screen.screenshot_base64())[:4] == PNG

    async def environment(self) -> bool:
        return bool(await self.sandbox.get_environment() == "linux")

    async def clicks(self) -> bool:
        mouse = self.sandbox.mouse
        await mouse.click(900, 500)
        await mouse.click(900, 500, button="middle")
        await mouse.right_click(900, 500)
        await self.sandbox.keyboard.keypress("escape")
        await mouse.double_click(900, 500)
        return True

    async def move(self) -> bool:
        await self.sandbox.mouse.move(911, 522)
        return bool(await self._position() == {"x": 911, "y": 522})

    async def hold_and_release(self) -> bool:
        await self.sandbox.mouse.mouse_down(900, 500)
        await self.sandbox.mouse.mouse_up(905, 505)
        return bool(await self._position() == {"x": 905, "y": 505})

    async def drag(self) -> bool:
        await self.sandbox.mouse.drag(900, 500, 950, 550)
        return bool(await self._position() == {"x": 950, "y": 550})

    async def scroll(self) -> bool:
        await self.sandbox.mouse.scroll(901, 501, scroll_y=3)
        await self.sandbox.mouse.scroll(901, 501, scroll_x=-2, scroll_y=-3)
        return bool(await self._position() == {"x": 901, "y": 501})

    async def type_text(self) -> bool:
        await self.sandbox.keyboard.type("it's <text>, Grüße")
        return True

    async def keypress(self) -> bool:
        await self.sandbox.keyboard.keypress("enter")
        await self.sandbox.keyboard.keypress(["ctrl", "a"])
        return True

    async def held_key(self) -> bool:
        await self.sandbox.keyboard.key_down("shift")
        await self.sandbox.keyboard.key_up("shift")
        return True

    async def clipboard(self) -> bool:
        await self.sandbox.clipboard.set("copied ✓")
        return bool(await self.sandbox.clipboard.get() == "copied ✓")

    async def shell(self) -> bool:
        done = await self.sandbox.shell.run("echo hello")
        return (done.stdout, done.returncode, done.success) == ("hello\n", 0, True)

    async def shell_failure(self) -> bool:
        done = await self.sandbox.shell.run("echo oops >&2; exit 3")
        return (done.returncode, done.success, done.stderr) == (3, False, "oops\n")

    async def window_title(self) -> bool:
        return isinstance(await self.sandbox.window.get_active_title(), str)

    async def text_files(self) -> bool:
        files = self.sandbox.files
        await files.write_text(NOTE, "Grüße")
        names = [entry.name for entry in await files.list("/tmp")]
        there = (await files.exists(NOTE), await files.is_dir("/tmp"), await files.size(NOTE))
        text = await files.read_text(NOTE)
        await files.remove(NOTE)
        left = await files.exists(NOTE)
        return (Path(NOTE).name in names, there, text, left) == (
            *(True, (True, True, 7), "Grüße", False),
        )

    async def binary_files(self) -> bool:
        files, data = self.sandbox.files, bytes(range(256)) * 1024
        await files.make_dir("~/cua/deep")
        with tempfile.NamedTemporaryFile() as here:
            here.write(data)
            here.flush()
            await files.upload(here.name, "~/cua/deep/there")
            await files.download("~/cua/deep/there", here.name)
            here.seek(0)
            same = here.read() == data
        part = await files.read_bytes("~/cua/deep/there", offset=255, length=2)
        await files.remove_dir("~/cua")
        return same and part == b"\xff\x00" and not await files.is_dir("~/cua")

    async def _position(self) -> Any:
        # The client has no method for this command.
        answer = await self.sandbox._transport.send("get_cursor_position")
        return answer["position"]


async def main(url: str, api_key: str) -> None:
    """Connect as the scheme says, and try all cases."""
    where = {"http_url": url} if url.startswith("http") else {"ws_url": url}
    sandbox = await Sandbox._create(**where, api_key=api_key, telemetry_enabled=False)
    cases = Cases(sandbox)
    try:
        for name in [name for name in vars(Cases) if not name.startswith("_")]:
            case: Callable[[], Awaitable[bool]] = getattr(cases, name)
            if await case():
                sys.stdout.write(f"{name}\n")
    finally:
        await sandbox.disconnect()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
