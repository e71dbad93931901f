"""A desktop of one's own: see it, act on it, film it.

Usage: python examples/quickstart.py [FOLDER]
"""

import asyncio
import sys
from pathlib import Path

from desktop.remote import Desktop


async def main(folder: Path) -> None:
    """Open a terminal, type into it, and keep the picture and the film."""
    async with Desktop.launch() as desktop:
        film = await desktop.recording.start(label="quickstart")
        await desktop.run("terminal > /dev/null 2>&1 &")
        await desktop.act("wait", observe=True, duration=1)
        seen = await desktop.keyboard.type("echo Grüße, 世界\n", observe=True)
        await desktop.screenshot(path=folder / "quickstart.png")
        stored = await desktop.recording.stop(film)
        await desktop.recording.download(film, folder / "quickstart.mp4")
    sys.stdout.write(f"{seen.changed_fraction:.2%} of the screen changed; ")
    sys.stdout.write(f"{stored.video_s:.1f} s of video are in {folder}\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
