"""Start an agent on a task, follow it, and keep its report and its video.

Without TASK a script plays instead of a model.
"""

import sys
from pathlib import Path

from deskhand import Client, DeskhandError

USAGE = "usage: python examples/control_plane.py FOLDER [TASK [MODEL]]"


def main(folder: Path, task: str = "Show the terminal", model: str = "scripted:tour") -> None:
    """Use the control plane that runs here, with `deskhand up` in another terminal."""
    with Client.connect() as client:
        run = client.run(task, model=model, budget={"steps": 50, "minutes": 10})
        sys.stdout.write(f"{run.url}\n")
        ended = run.wait()
        if ended.question is not None:
            sys.stdout.write(f"It asks: {ended.question.text}\n")
            run.stop()
            return
        for step in run.steps():
            sys.stdout.write(f"{step.index + 1:>3} {step.title}\n")
        (folder / "report.txt").write_text(f"{ended.report}\n")
        video = run.recording.save(folder / "run.mp4")
    sys.stdout.write(f"created: {folder / 'report.txt'} {video}\n")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4 or not Path(sys.argv[1]).is_dir():
        sys.exit(USAGE)
    try:
        main(Path(sys.argv[1]), *sys.argv[2:])
    except DeskhandError as error:
        sys.exit(f"{error}. {error.advice}")
