"""What a frame costs applications on a desktop: GTK, mpv and Firefox, where they are installed.

Usage: python -m bench.frame_cost [SECONDS] [DESKHAND]

Run as root. DESKHAND is the program of another checkout, such as that of commit 9714228, where
applications have the X server's user, a trusted cookie, and so MIT-SHM. Both desktops take turns,
so that the load of the machine is the same for both. Printed are milliseconds of processor time for
each frame, of the application and of the X server.
"""

import json
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.service import Live
from tests.system.reporting_page import Reports, reporting_page

ROUNDS = 2
WARM_UP = 3.0
"""Seconds before the measurement, in which an application opens its window."""

GTK = """
import ctypes, sys, time
gtk, glib = ctypes.CDLL("libgtk-3.so.0"), ctypes.CDLL("libgobject-2.0.so.0")
cairo = ctypes.CDLL("libcairo.so.2")
pointer, double = ctypes.c_void_p, ctypes.c_double
for name in ("gtk_window_new", "gtk_drawing_area_new"):
    getattr(gtk, name).restype = pointer
for name in ("gtk_widget_queue_draw", "gtk_widget_show_all"):
    getattr(gtk, name).argtypes = [pointer]
gtk.gtk_window_set_default_size.argtypes = [pointer, ctypes.c_int, ctypes.c_int]
gtk.gtk_container_add.argtypes = [pointer, pointer]
CALL = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, pointer)
gtk.gtk_widget_add_tick_callback.argtypes = [pointer, CALL, pointer, pointer]
connect = glib.g_signal_connect_data
connect.argtypes = [pointer, ctypes.c_char_p, CALL, pointer, pointer, ctypes.c_int]
cairo.cairo_set_source_rgb.argtypes = [pointer, double, double, double]
cairo.cairo_paint.argtypes = [pointer]
frames = 0
def draw(area, context, data):
    global frames
    frames += 1
    cairo.cairo_set_source_rgb(context, frames % 100 / 100, 0.5, 0.5)
    cairo.cairo_paint(context)
    return 0
def tick(area, clock, data):
    gtk.gtk_widget_queue_draw(area)
    return 1
draw, tick = CALL(draw), CALL(tick)
gtk.gtk_init(None, None)
window, area = gtk.gtk_window_new(0), gtk.gtk_drawing_area_new()
gtk.gtk_window_set_default_size(window, 1280, 720)
connect(area, b"draw", draw, None, None, 0)
gtk.gtk_widget_add_tick_callback(area, tick, None, None)
gtk.gtk_container_add(window, area)
gtk.gtk_widget_show_all(window)
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    gtk.gtk_main_iteration()
open(sys.argv[1], "w").write(str(frames))
"""
"""A program that paints its window for some seconds and writes the number of frames into a file."""

PAGE = b"""<!doctype html><body style="margin:0"><canvas width=1280 height=720></canvas><script>
const context = document.querySelector("canvas").getContext("2d");
let frames = 0;
function paint() {
  context.fillStyle = `hsl(${frames % 360} 90% 50%)`;
  context.fillRect(0, 0, 1280, 720);
  frames += 1;
  requestAnimationFrame(paint);
}
requestAnimationFrame(paint);
const send = () => fetch("/frames", {method: "POST", body: String(frames)});
setInterval(send, 500);
</script>"""


@dataclass(frozen=True)
class Cost:
    """Frames, and milliseconds of processor time for each."""

    frames: int
    application: float
    server: float


class Desktop:
    """A desktop service that runs applications."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.home = Path(live.output("echo $HOME").strip())
        self.user = int(live.output("id -u"))
        self.server = psutil.Process(live.http.get("/api/v0/desktop").json()["xserver"]["pid"])

    @contextmanager
    def program(self, command: str) -> Iterator[None]:
        """Run a command; kill it, and what it started, at the end."""
        body = {"command": f"exec {command}", "background": True}
        before = {one.pid for one in self._processes()}
        self.live.http.post("/api/v0/processes/start", json=body).raise_for_status()
        try:
            yield
        finally:
            for one in self._processes():
                if one.pid not in before:
                    with suppress(psutil.Error):
                        one.kill()

    def cpu(self, name: str) -> tuple[float, float]:
        """Return seconds of the processes whose command line has this name, and of the server."""
        own = 0.0
        for process in self._processes():
            with suppress(psutil.Error):
                if name in " ".join(process.cmdline()) and process.pid != self.server.pid:
                    own += sum(process.cpu_times()[:2])
        return own, sum(self.server.cpu_times()[:2])

    def _processes(self) -> list[psutil.Process]:
        return [one for one in psutil.process_iter() if _is_of(one, self.user)]


def _is_of(process: psutil.Process, user: int) -> bool:
    with suppress(psutil.Error):
        return bool(process.uids().real == user)
    return False


def counted(desktop: Desktop, name: str, frames: Callable[[], int], seconds: float) -> Cost:
    """Return the cost of the frames of some seconds; ``frames`` returns their number so far."""
    first, before = frames(), desktop.cpu(name)
    time.sleep(seconds)
    after, last = desktop.cpu(name), frames()
    number = max(1, last - first)
    own, server = ((b - a) * 1000 / number for a, b in zip(before, after, strict=True))
    return Cost(last - first, own, server)


def gtk(desktop: Desktop, seconds: float) -> Cost:
    """Measure a GTK program, from its start to its end."""
    out = desktop.home / "frames"
    out.unlink(missing_ok=True)
    words = ["python3", "-c", GTK, str(out), str(WARM_UP + seconds)]
    before = sum(desktop.server.cpu_times()[:2])
    own = 0.0
    with desktop.program(shlex.join(words)):
        deadline = time.monotonic() + 60
        while not (out.exists() and out.read_text()):
            assert time.monotonic() < deadline, "the GTK program has ended"
            own = desktop.cpu(str(out))[0] or own
            time.sleep(0.2)
    frames = max(1, int(out.read_text()))
    server = sum(desktop.server.cpu_times()[:2]) - before
    return Cost(frames, own * 1000 / frames, server * 1000 / frames)


def mpv(desktop: Desktop, seconds: float) -> Cost:
    """Measure a video of 1280x720 at 30 frames a second, drawn by the X11 output."""
    video = "av://lavfi:testsrc2=size=1280x720:rate=30"
    words = [shutil.which("mpv") or "mpv", "--no-config", "--vo=x11", "--no-audio", video]
    began = time.monotonic()
    with desktop.program(shlex.join(words)):
        time.sleep(WARM_UP)
        return counted(desktop, video, lambda: int((time.monotonic() - began) * 30), seconds)


def firefox(desktop: Desktop, seconds: float) -> Cost:
    """Measure a page that paints its canvas in every frame."""
    profile = desktop.home / "firefox"
    program = shutil.which("firefox-esr") or "firefox-esr"
    with reporting_page(PAGE) as (url, reports):
        words = [program, "--no-remote", "--profile", str(profile), url]
        with desktop.program(
            f"sh -c {shlex.quote(f'mkdir -p {profile}; exec {shlex.join(words)}')}"
        ):
            newest(reports)
            time.sleep(WARM_UP)
            return counted(desktop, "firefox", lambda: newest(reports), seconds)


def newest(reports: Reports) -> int:
    """Return the next number that the page reports."""
    while not reports.empty():
        reports.get()
    return int(reports.get(timeout=60)[1])


MEASURES = {"GTK": gtk, "mpv": mpv, "Firefox": firefox}
PROGRAMS = {"mpv": "mpv", "Firefox": "firefox-esr"}


@contextmanager
def opened(program: str) -> Iterator[Desktop]:
    """Run a desktop service with this ``deskhand``."""
    command = [program, "desktop", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            yield Desktop(Live(ready["url"], ready["token"], Path("/tmp")))
        finally:
            process.terminate()


def main() -> None:
    """Print the table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    programs = {"now": str(Path(sys.executable).with_name("deskhand"))}
    if len(sys.argv) > 2:
        programs["before"] = sys.argv[2]
    with ExitStack() as stack:
        desktops = {name: stack.enter_context(opened(path)) for name, path in programs.items()}
        for what, measure in MEASURES.items():
            if what in PROGRAMS and shutil.which(PROGRAMS[what]) is None:
                print(f"{what}: not installed")
                continue
            found: dict[str, list[Cost]] = {name: [] for name in desktops}
            for _ in range(ROUNDS):
                for name, desktop in desktops.items():
                    found[name].append(measure(desktop, seconds))
            for name, costs in found.items():
                frames = statistics.median(one.frames for one in costs)
                own = statistics.median(one.application for one in costs)
                server = statistics.median(one.server for one in costs)
                print(
                    f"{what:8} {name:7} {own:6.2f} ms application {server:6.2f} ms X server"
                    f" {frames:5.0f} frames",
                    flush=True,
                )


if __name__ == "__main__":
    main()
