"""Start a desktop, act on it, take a screenshot and record a video.

Usage: python examples/quickstart.py [FOLDER]
"""

import sys
from pathlib import Path

from deskhand import Desktop


def main(folder: Path) -> None:
    """Open a terminal, type into it, and keep the screenshot and the video."""
    with Desktop.launch() as desktop:
        recording = desktop.recording.start(label="quickstart")
        desktop.run("terminal > /dev/null 2>&1 &")
        desktop.act("wait", observe=True, duration=1)
        seen = desktop.keyboard.type("echo Grüße, 世界\n", observe=True)
        desktop.screenshot(path=folder / "quickstart.png")
        stored = desktop.recording.stop(recording)
        desktop.recording.download(recording, folder / "quickstart.mp4")
    sys.stdout.write(f"{seen.changed_fraction:.2%} of the screen changed; ")
    sys.stdout.write(f"{stored.video_s:.1f} s of video are in {folder}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
