"""Compare a step of gym_anything with its own VNC client: ``python -m bench.gym_steps``.

The runner of ``examples/gym_anything_env.py`` and gym_anything's ``vnc_utils`` click and observe on
one desktop in turns, in the environment of `make interop`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.tables import save
from tests.interop.clients import ROOT, clients
from tests.system.services import tidy
from tests.system.test_forward import forwarding

CLIENT = Path(__file__).with_name("gym_steps_client.py")


def main() -> int:
    """Print the median milliseconds of each way on each scene; return 1 without the package."""
    installed = clients()
    version = installed.versions().get("cua-speedrun")
    if version is None:
        print("cua-speedrun is not installed: `make interop` makes its environment")
        return 1
    with TemporaryDirectory() as folder, tidy(Path(folder) / "errors.log") as desktop:
        given = {"DESKHAND_URL": desktop.url, "DESKHAND_TOKEN": desktop.token}
        with forwarding(desktop, "vnc", "--port", "0", "--role", "agent") as (_, ready):
            done = subprocess.run(
                [installed.python, CLIENT, ROOT, *ready["listen"].split(":")],
                env={**os.environ, **given},
                cwd=folder,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
    scenes = json.loads(done.stdout.splitlines()[-1])
    for scene, times in scenes.items():
        print(f"ms of a click and a picture on {scene}: {times}")
    save("gym_steps", {"version": version, "click_and_picture_ms": scenes})
    return 0


if __name__ == "__main__":
    sys.exit(main())
