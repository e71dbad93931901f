"""Uses a desktop with cua-computer: waits until it is ready, and calls its interface.

Usage: cua_computer_client.py [BASE_URL [TOKEN]]; by default port 8000 of this machine
"""

import asyncio
import sys

from computer.interface.linux import LinuxComputerInterface


async def main(*where: str) -> None:
    """Call one method of each kind."""
    given = dict(zip(("api_base_url", "api_key"), where, strict=False))
    api = LinuxComputerInterface(ip_address="127.0.0.1", **given)
    try:
        await api.wait_for_ready(timeout=20)
        assert await api.get_screen_size() == {"width": 1920, "height": 1080}
        assert (await api.screenshot())[:4] == b"\x89PNG"
        await api.move_cursor(900, 500)
        assert await api.get_cursor_position() == {"x": 900, "y": 500}
        await api.left_click()
        await api.scroll_down(2)
        await api.drag_to(920, 520, duration=0.1)
        await api.hotkey("ctrl", "a")
        await api.press("pagedown")
        await api.type_text("Grüße")
        await api.set_clipboard("copied")
        assert await api.copy_to_clipboard() == "copied"
        done = await api.run_command("echo hello; exit 3")
        assert (done.stdout, done.returncode) == ("hello\n", 3), done
        await api.write_text("~/note.txt", "one")
        await api.write_text("~/note.txt", " two", append=True)
        assert await api.read_text("~/note.txt") == "one two"
        assert await api.file_exists("~/note.txt")
        assert "note.txt" in await api.list_dir("~")
        await api.delete_file("~/note.txt")
        assert not await api.file_exists("~/note.txt")
        assert await api.launch("sleep", ["1"])
    finally:
        api.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
