"""What an agent can do on its desktop: run commands through the process API."""

import shlex
from io import BytesIO
from uuid import uuid4

import numpy
from PIL import Image

from tests.system.services import PATIENCE, Service, until

LIMITS = ("--desktop-processes", "300", "--desktop-memory", "512", "--desktop-tmp", "64")
"""Options of a desktop whose limits an attacker reaches soon."""
FORK_BOMB = """
import os, time
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        time.sleep(0.2)
"""
HOG = "import time; data = bytearray(300 << 20); time.sleep(600)"

MAGENTA_PAGE = "data:text/html,<body style='background:magenta'>"


def output(desktop: Service, command: str, wait: str = "wait=true") -> str:
    """Run a command on a desktop and return what it printed, errors included."""
    started = desktop.post("/api/v0/processes/start", {"command": f"({command}) 2>&1"})
    path = f"/api/v0/processes/{started['id']}/output?{wait}"
    found = desktop.http.get(path, timeout=PATIENCE * 2).json()
    return str(found["output"]).strip()


def python(desktop: Service, script: str) -> str:
    """Run a script with Debian's Python on a desktop."""
    return output(desktop, f"/usr/bin/python3 -c {shlex.quote(script)}")


def show_magenta(desktop: Service) -> None:
    """Open a magenta page in the browser and wait until the screen shows it."""
    command = f"browser {shlex.quote(MAGENTA_PAGE)}"
    body = {"command": command, "background": True, "name": str(uuid4())}
    desktop.post("/api/v0/processes/start", body)
    until(lambda: magenta(desktop) > 0.3, "a magenta page")


def magenta(desktop: Service) -> float:
    """Return the share of magenta pixels on the screen of a desktop."""
    answer = desktop.http.get("/api/v0/desktop/screenshot?format=png")
    assert answer.status_code == 200, answer.text
    pixels = numpy.asarray(Image.open(BytesIO(answer.content)).convert("RGB"))
    return float((pixels == (255, 0, 255)).all(axis=2).mean())
