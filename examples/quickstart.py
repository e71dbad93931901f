"""Start a desktop, act on it, take a screenshot and record a video."""

import sys
from pathlib import Path

from deskhand import Desktop

USAGE = "usage: python examples/quickstart.py [FOLDER]"


def main(folder: Path) -> None:
    """Open a terminal, type into it, and keep the screenshot and the video."""
    with Desktop.launch() as desktop:
        files = [folder / "quickstart.png", folder / "quickstart.mp4"]
        recording = desktop.recording.start(label="quickstart")
        desktop.run("terminal > /dev/null 2>&1 &")
        desktop.act("wait", observe=True, duration=1)
        seen = desktop.keyboard.type("echo Grüße, 世界\n", observe=True)
        desktop.screenshot(path=files[0])
        stored = desktop.recording.stop(recording)
        desktop.recording.download(recording, files[1])
    sys.stdout.write(f"{seen.changed_fraction:.2%} of the screen changed; ")
    sys.stdout.write(f"{stored.video_s:.1f} s of video\n")
    sys.stdout.write(f"created: {files[0]} {files[1]}\n")


if __name__ == "__main__":
    if len(sys.argv) > 2 or not Path(*sys.argv[1:]).is_dir():
        sys.exit(USAGE)
    main(Path(*sys.argv[1:]))
