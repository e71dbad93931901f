import asyncio
import os
import signal
import socket
from pathlib import Path

import numpy as np
import psutil
import pytest

from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.desktop.display.child_processes import ChildProcessSpawner
from deskhand.desktop.display.health_check import HealthCheck, HealthCheckTimeouts
from deskhand.desktop.display.x_server import XServer, write_cookie
from deskhand.desktop.errors import DisplayGone, DisplayNotReady, MissingProgram
from deskhand.desktop.geometry import Point, Region, whole
from deskhand.desktop.input.events import PointerMotion
from deskhand.desktop.input.xtest import XTestInput
from deskhand.desktop.screenshots.renderer import crop
from tests.system.displays import PATIENCE, SIZE, Window, colour_at, display, framebuffer
from tests.system.services import until

pytestmark = pytest.mark.x11

RED, GREEN = 0xFF0000, 0x00C020
PLACE = Region(100, 200, 300, 350)


class XSocket:
    """The socket file of a server; a later server may take its number at once."""

    def __init__(self, server: XServer) -> None:
        self._path = Path(f"/tmp/.X11-unix/X{server.display[1:]}")
        self._found = self._path.stat()

    def exists(self) -> bool:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return False
        return (found.st_ino, found.st_mtime_ns) == (self._found.st_ino, self._found.st_mtime_ns)


def test_a_server_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail() -> None:
        with display(tmp_path) as running:
            seen.append(running.server)
            pids.append(running.server.pid or 0)
            sockets.append(XSocket(running.server))
            assert running.server.rfb_socket.stat().st_mode & 0o777 == 0o600
            assert running.server.xauthority.stat().st_mode & 0o777 == 0o600
            raise ZeroDivisionError

    seen: list[XServer] = []
    sockets: list[XSocket] = []
    pids: list[int] = []
    with pytest.raises(ZeroDivisionError):
        fail()
    (server,) = seen
    assert not psutil.pid_exists(*pids)
    (file,) = sockets
    assert not file.exists()
    assert not server.rfb_socket.exists()
    assert not server.died.is_set()


def test_a_server_listens_on_no_network(tmp_path: Path) -> None:
    with display(tmp_path) as running:
        found = psutil.net_connections("inet")
        assert [one for one in found if one.pid == running.server.pid] == []


def test_servers_side_by_side_have_displays_of_their_own(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    with display(tmp_path / "one") as one, display(tmp_path / "other") as other:
        assert one.server.display != other.server.display
        with Window(one.server, PLACE, RED), framebuffer(other) as screen:
            assert colour_at(screen.frame(), 150, 250) != RED


def test_a_wrong_cookie_opens_nothing(tmp_path: Path) -> None:
    with display(tmp_path) as running:
        wrong = tmp_path / "wrong"
        write_cookie(wrong)
        with pytest.raises(DisplayGone):
            Framebuffer(running.server.display, wrong).open()


def test_a_server_that_hangs_counts_as_dead(tmp_path: Path) -> None:
    soon = HealthCheckTimeouts(interval=0.05, reply=PATIENCE, rfb=PATIENCE)
    with display(tmp_path) as running, HealthCheck(running.server, soon):
        with running.server.connect(PATIENCE) as line:
            line.sendall(b"\x2b\x00\x01\x00")
            assert line.recv(1) == b"\x01"
        assert not running.server.died.is_set()
    with display(tmp_path) as running:
        os.kill(running.server.pid or 0, signal.SIGSTOP)
        with HealthCheck(running.server, HealthCheckTimeouts(interval=0.05, reply=0.1, rfb=0.1)):
            assert running.server.died.wait(PATIENCE)


def test_aborted_viewers_do_not_exhaust_the_limit(tmp_path: Path) -> None:
    with display(tmp_path) as running:
        for _ in range(8):
            with socket.socket(socket.AF_UNIX) as viewer:
                viewer.settimeout(PATIENCE)
                viewer.connect(str(running.server.rfb_socket))
                assert viewer.recv(12) == b"RFB 003.008\n"


def test_a_server_without_a_live_view_will_do(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    environment = {"PATH": "/usr/bin:/bin"}
    with (
        ChildProcessSpawner() as spawner,
        XServer(tmp_path, SIZE, environment, spawner, program="Xvfb") as server,
    ):
        assert not server.rfb_socket.exists()
        assert server.rfb_responds(PATIENCE)
        file = XSocket(server)
        pid = server.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        until(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED, "the stop")
        assert not server.x_responds(0.01)
        assert not server.rfb_responds(0.01)
        os.kill(pid, signal.SIGCONT)
        assert server.rfb_responds(PATIENCE)
        with (
            Framebuffer(server.display, server.xauthority) as screen,
            XTestInput(server.display, server.xauthority) as input_device,
        ):
            assert screen.size == SIZE
            input_device.perform([PointerMotion(Point(7, 8))])
            assert input_device.position() == Point(7, 8)
        stranger = tmp_path / "stranger"
        write_cookie(stranger)
        with pytest.raises(DisplayGone):
            Framebuffer(server.display, stranger).open()
    assert not file.exists()


def test_a_server_that_ends_at_once_is_reported_with_its_log(tmp_path: Path) -> None:
    broken = tmp_path / "bin" / "Xvnc"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho no luck today\nexit 1\n")
    broken.chmod(0o700)
    environment = {"PATH": f"{broken.parent}:/usr/bin:/bin"}
    with ChildProcessSpawner() as spawner:
        server = XServer(tmp_path, SIZE, environment, spawner)
        with pytest.raises(DisplayNotReady, match="no luck today"):
            server.open()


def test_a_missing_server_is_named_with_its_package(tmp_path: Path) -> None:
    with ChildProcessSpawner() as spawner:
        server = XServer(tmp_path, SIZE, {"PATH": str(tmp_path)}, spawner)
        with pytest.raises(MissingProgram, match="tigervnc-standalone-server"):
            server.open()


def test_the_end_of_the_server_reaches_everybody(tmp_path: Path) -> None:
    async def ended(screen: Framebuffer, pid: int) -> None:
        with screen.watch() as watch:
            waiting = asyncio.create_task(watch.next(PATIENCE))
            await asyncio.sleep(0)
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(DisplayGone):
                await waiting

    with display(tmp_path) as running, framebuffer(running) as screen:
        assert running.server.pid is not None
        file = XSocket(running.server)
        input_device = XTestInput(running.server.display, running.server.xauthority)
        input_device.open()
        feed = screen.subscribe()
        assert feed.next(PATIENCE) is not None
        asyncio.run(ended(screen, running.server.pid))
        assert running.server.died.wait(PATIENCE)
        with pytest.raises(DisplayGone):
            screen.frame()
        with pytest.raises(DisplayGone):
            feed.next(PATIENCE)
        with pytest.raises(DisplayGone):
            input_device.perform([PointerMotion(Point(1, 1))])
        input_device.close()
    assert not file.exists()


def test_frames_show_what_is_painted_and_never_change(tmp_path: Path) -> None:
    with display(tmp_path) as running, framebuffer(running) as screen:
        assert screen.size == SIZE
        assert screen.shared_memory
        before = screen.frame()
        with Window(running.server, PLACE, RED) as window:
            red = screen.frame()
            window.paint(GREEN)
            green = screen.frame()
        for shown, colour in ((red, RED), (green, GREEN)):
            assert colour_at(shown, 100, 200) == colour
            assert colour_at(shown, 299, 349) == colour
            assert colour_at(shown, 99, 200) == colour_at(before, 99, 200)
            assert colour_at(shown, 299, 350) == colour_at(before, 299, 350)
        assert before.counter < red.counter < green.counter
        gone = screen.frame()
        assert np.array_equal(gone.pixels, before.pixels)
        assert gone.counter > green.counter


def test_painting_the_same_again_is_the_same_frame(tmp_path: Path) -> None:
    with (
        display(tmp_path) as running,
        framebuffer(running) as screen,
        Window(running.server, PLACE, RED) as window,
    ):
        red = screen.frame()
        window.paint(RED)
        assert screen.frame() is red


def test_released_frames_are_the_same_afterwards(tmp_path: Path) -> None:
    with (
        display(tmp_path) as running,
        framebuffer(running) as screen,
        Window(running.server, PLACE, RED) as window,
    ):
        before = screen.frame()
        screen.release()
        after = screen.frame()
        assert np.array_equal(after.pixels, before.pixels)
        assert (after.counter, after.time) == (before.counter, before.time)
        screen.release()
        window.paint(GREEN)
        green = screen.frame()
        assert colour_at(green, 150, 250) == GREEN
        assert green.counter == before.counter + 1
        assert np.array_equal(green.pixels[: PLACE.top], before.pixels[: PLACE.top])
    screen.release()


def test_a_server_without_shared_memory_is_read_too(tmp_path: Path) -> None:
    class Plain(XServer):
        def _command(self, number_pipe: int) -> list[str]:
            return [*super()._command(number_pipe), "-extension", "MIT-SHM"]

    with (
        display(tmp_path, Plain) as running,
        framebuffer(running) as screen,
        Window(running.server, PLACE, RED),
    ):
        assert not screen.shared_memory
        assert colour_at(screen.frame(), 299, 349) == RED


def test_damage_wakes_a_watch(tmp_path: Path) -> None:
    async def scenario(screen: Framebuffer, window: Window) -> None:
        screen.frame()
        with screen.watch() as watch:
            assert watch.recent()[-1].regions == (PLACE,)
            assert await watch.next(0) is None
            waiting = asyncio.create_task(watch.next(PATIENCE))
            await asyncio.sleep(0)
            window.paint(GREEN)
            damage = await waiting
            assert damage is not None
            assert damage.regions == (PLACE,)

    with (
        display(tmp_path) as running,
        framebuffer(running) as screen,
        Window(running.server, PLACE, RED) as window,
    ):
        asyncio.run(scenario(screen, window))


def test_a_feed_gives_changed_frames_and_the_moved_pointer(tmp_path: Path) -> None:
    with (
        display(tmp_path) as running,
        framebuffer(running) as screen,
        Window(running.server, PLACE, RED) as window,
        screen.subscribe() as feed,
        XTestInput(
            running.server.display, running.server.xauthority, screen.check_pointer_soon
        ) as input_device,
    ):
        first = feed.next(PATIENCE)
        assert first is not None
        assert first[1] == (whole(SIZE),)
        window.paint(GREEN)
        changed = feed.next(PATIENCE)
        assert changed is not None
        assert colour_at(changed[0], 150, 250) == GREEN
        assert changed[1] == (PLACE,)
        input_device.perform([PointerMotion(Point(33, 44))])
        moved = feed.next(PATIENCE)
        assert moved is not None
        assert moved[0] is changed[0]
        assert (moved[1], moved[2].position) == ((), Point(33, 44))


def test_the_pointer_is_seen_and_can_be_drawn(tmp_path: Path) -> None:
    with (
        display(tmp_path) as running,
        framebuffer(running) as screen,
        XTestInput(running.server.display, running.server.xauthority) as input_device,
    ):
        input_device.perform([PointerMotion(Point(400, 300))])
        assert input_device.position() == Point(400, 300)
        pointer = screen.pointer()
        assert pointer.position == Point(400, 300)
        bare = screen.frame().pixels
        drawn = crop(bare, whole(screen.size), pointer)
        rows, columns = np.nonzero((drawn != bare).any(axis=2))
        assert 380 <= columns.min() <= columns.max() <= 430
        assert 280 <= rows.min() <= rows.max() <= 330


def test_a_server_without_damage_is_refused_by_name(tmp_path: Path) -> None:
    class Mute(XServer):
        def _command(self, number_pipe: int) -> list[str]:
            return [*super()._command(number_pipe), "-extension", "DAMAGE"]

    with display(tmp_path, Mute) as running:
        screen = Framebuffer(running.server.display, running.server.xauthority)
        with pytest.raises(DisplayGone, match="DAMAGE"):
            screen.open()
        screen.close()
