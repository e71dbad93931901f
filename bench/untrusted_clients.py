"""What applications lose as untrusted clients of the X server, beside trusted ones of the same run.

Usage: python -m bench.untrusted_clients [SECONDS]

Run as root. The applications run as a desktop's user, with the trusted and then with the untrusted
cookie, on one X server with a window manager. For each are printed: frames in a second of a page
that paints its whole window in every frame, processor time for each frame (browser and X server),
positions of a page while the wheel turns, the clipboard in both directions, text that arrives, and
the lines in a second of a terminal.
"""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty
from typing import Any

import psutil

from bench.service import Live
from deskhand.desktop.client.command import service_command
from deskhand.desktop.client.local_service import LocalService
from tests.system.reporting_page import Reports, reporting_page

TEXT = "Grüße, 你好 42"
PAGE = b"""<!doctype html><meta charset=utf-8><title>frames</title>
<body style="margin:0;height:20000px;background:linear-gradient(red,blue)">
<canvas style="position:fixed;inset:0;width:100%;height:100%"></canvas>
<textarea autofocus style="position:fixed;top:0;left:0;width:300px;height:80px"></textarea>
<script>
const canvas = document.querySelector("canvas"), area = document.querySelector("textarea");
canvas.width = innerWidth; canvas.height = innerHeight;
const context = canvas.getContext("2d");
const send = (kind, value) => fetch("/" + kind, { method: "POST", body: String(value) });
let frames = 0, painting = true;
function paint() {
  if (!painting) return;
  context.fillStyle = `hsl(${frames % 360} 90% 50%)`;
  context.fillRect(0, 0, canvas.width, canvas.height);
  frames += 1;
  requestAnimationFrame(paint);
}
requestAnimationFrame(paint);
addEventListener("keydown", (event) => {
  if (event.key === "F2") { send("frames", frames); }
  if (event.key === "F4") { painting = false; canvas.remove(); send("painted", frames); }
  if (event.key === "F6") { send("text", area.value); area.value = ""; }
  if (event.key === "F8") { send("scrolled", positions.size + " " + deltas.join(",")); }
});
const positions = new Set(), deltas = [];
addEventListener("scroll", () => positions.add(scrollY));
addEventListener("wheel", (event) => deltas.push(event.deltaY));
area.focus();
</script>"""


def next_report(reports: Reports, kind: str, seconds: float = 20.0) -> str:
    """Return the next text of a kind that the page posts; raise ``Empty`` if none comes in time."""
    deadline = time.monotonic() + seconds
    while True:
        path, text = reports.get(timeout=max(0.01, deadline - time.monotonic()))
        if path == f"/{kind}":
            return text


class Scene:
    """A desktop service, with a copy of its trusted cookie that its user can read."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.home = Path(live.output("echo $HOME").strip())
        self.user = int(live.output("id -u"))
        self.server = psutil.Process(live.http.get("/api/v0/desktop").json()["xserver"]["pid"])
        folder = self.home.parent
        trusted = self.home / "trusted-cookie"
        shutil.copy(folder / "run" / "service" / "Xauthority", trusted)
        os.chown(trusted, self.user, self.user)
        self.cookies = {"trusted": trusted, "untrusted": folder / "run" / "display" / "Xauthority"}
        script = (folder / "bin" / "browser").read_text().splitlines()
        self.browser = self.home / "browser"
        kept = [line for line in script if not line.startswith("export XAUTHORITY")]
        self.browser.write_text("\n".join(kept))

    @contextmanager
    def program(self, cookie: Path, command: str) -> Iterator[str]:
        """Run a command with a cookie; kill what it started at the end. Yield its id."""
        body = {"command": f"export XAUTHORITY={cookie}; exec {command}", "background": True}
        before = {one.pid for one in self.processes()}
        started = self.live.http.post("/api/v0/processes/start", json=body).json()
        try:
            yield started["id"]
        finally:
            for one in self.processes():
                if one.pid not in before:
                    with suppress(psutil.Error):
                        one.kill()
            time.sleep(1.0)

    def processes(self) -> list[psutil.Process]:
        """Return the processes of the desktop's user."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.uids().real == self.user:
                    found.append(process)
        return found

    def cpu_seconds(self) -> tuple[float, float]:
        """Return processor time of the programs of Chromium, and of the X server."""
        own = 0.0
        for process in self.processes():
            with suppress(psutil.Error):
                if process.name().startswith("chrom"):
                    times = process.cpu_times()
                    own += times.user + times.system
        times = self.server.cpu_times()
        return own, times.user + times.system


def chromium(scene: Scene, cookie: Path, seconds: float) -> dict[str, str]:
    """Measure the desktop's browser."""
    found: dict[str, str] = {}
    live = scene.live

    def act(**action: Any) -> None:
        live.act(**action, observe={"screenshot": False})

    with reporting_page(PAGE) as (url, reports), scene.program(cookie, f"sh {scene.browser} {url}"):

        def asked(key: str, kind: str, tries: int = 60) -> str:
            for _ in range(tries):
                act(action="key", text=key)
                with suppress(Empty):
                    return next_report(reports, kind, 1.0)
            return "no answer"

        if asked("F2", "frames") == "no answer":
            return {"frames a second": "no window"}
        time.sleep(2.0)
        before, began = int(asked("F2", "frames")), time.monotonic()
        cpu_before = scene.cpu_seconds()
        time.sleep(seconds)
        after, passed = int(asked("F2", "frames")), time.monotonic() - began
        cpu = [b - a for a, b in zip(cpu_before, scene.cpu_seconds(), strict=True)]
        frames = max(1, after - before)
        found["frames a second"] = f"{frames / passed:.1f}"
        found["browser ms a frame"] = f"{cpu[0] * 1000 / frames:.1f}"
        found["X server ms a frame"] = f"{cpu[1] * 1000 / frames:.1f}"
        asked("F4", "painted")
        act(action="key", text="BackSpace")
        act(action="type", text=TEXT)
        found["typed into it"] = asked("F6", "text")
        act(action="type", text="copied text")
        for chord in ("ctrl+a", "ctrl+c"):
            act(action="key", text=chord)
        time.sleep(0.5)
        found["copied from it"] = live.http.get("/api/v0/desktop/clipboard").text[:80]
        answer = live.http.put(
            "/api/v0/desktop/clipboard",
            content=b"pasted text",
            headers={"Content-Type": "text/plain"},
        )
        assert answer.status_code == 204, answer.text
        for chord in ("ctrl+a", "ctrl+v"):
            act(action="key", text=chord)
        time.sleep(0.5)
        found["pasted into it"] = asked("F6", "text")
        for _ in range(5):
            act(action="scroll", coordinate=[640, 500], scroll_direction="down", scroll_amount=1)
        time.sleep(1.0)
        found["scroll positions, wheel deltas"] = asked("F8", "scrolled")
    return found


def terminal(scene: Scene, cookie: Path) -> dict[str, str]:
    """Measure xterm."""
    lines = 100_000
    done = scene.home / "done"
    done.unlink(missing_ok=True)
    script = f"b=$(date +%s%N); seq 1 {lines}; e=$(date +%s%N); echo $((e-b)) > {done}"
    command = f"xterm -fa 'DejaVu Sans Mono' -e sh -c '{script}'"
    with scene.program(cookie, command) as process:
        path = f"/api/v0/processes/{process}/output"
        scene.live.http.get(path, params={"wait_for": "exit", "timeout_ms": "50000"})
    took = int(done.read_text()) / 1e9
    return {"terminal lines a second": f"{lines / took:.0f}"}


def main() -> None:
    """Print the table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    service = LocalService(service_command("--json"))
    try:
        scene = Scene(Live(*service.open(), Path("/tmp")))
        results = {}
        for name in ("trusted", "untrusted", "trusted again", "untrusted again"):
            cookie = scene.cookies[name.split()[0]]
            results[name] = chromium(scene, cookie, seconds) | terminal(scene, cookie)
        for what in next(iter(results.values())):
            print(what)
            for name, result in results.items():
                print(f"    {name:16} {result.get(what, '-')}")
    finally:
        service.close()


if __name__ == "__main__":
    main()
