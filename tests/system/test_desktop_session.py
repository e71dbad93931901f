import asyncio
import os
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

from deskhand.desktop.browser.launch import prepare
from deskhand.desktop.capture.framebuffer import Framebuffer
from deskhand.desktop.capture.frames import Frame
from deskhand.desktop.display.child_processes import ChildCommand
from deskhand.desktop.display.session import DesktopSession
from deskhand.desktop.display.session_files import SessionFiles
from deskhand.desktop.errors import MissingProgram
from deskhand.desktop.geometry import Point, Region
from deskhand.desktop.input.events import ButtonPress, ButtonRelease, PointerMotion
from deskhand.desktop.input.xtest import XTestInput
from tests.system.displays import PATIENCE, SIZE, Display, colour_at, display, framebuffer

pytestmark = pytest.mark.x11

PANEL = Region(0, SIZE.height - 48, SIZE.width, SIZE.height)
TERMINAL_COLOUR = 0x101820
PAGE_COLOUR = 0x00C0FF


@contextmanager
def session(running: Display) -> Iterator[DesktopSession]:
    with DesktopSession(
        running.folder,
        running.server.display,
        running.server.xauthority,
        running.environment,
        running.spawner,
        SessionFiles.read(),
        prepare("", "auto", running.environment),
    ) as opened:
        opened.wait_ready()
        yield opened


async def seen(screen: Framebuffer, condition: Callable[[Frame], bool]) -> None:
    """Wait until a frame is as wanted."""
    with screen.watch() as watch:
        async with asyncio.timeout(PATIENCE):
            while not condition(screen.frame()):
                await watch.next(PATIENCE)


@pytest.fixture
def short_path() -> Iterator[Path]:
    """Chromium puts a socket into its temporary folder, and such paths have 108 bytes."""
    with tempfile.TemporaryDirectory(prefix="dh-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def painted(frame: Frame, colour: int) -> int:
    """Count the pixels of a colour, wherever they are."""
    wanted = [colour & 255, colour >> 8 & 255, colour >> 16]
    return int((frame.pixels[:, :, :3] == wanted).all(axis=2).sum())


def panel_shown(frame: Frame) -> bool:
    return colour_at(frame, SIZE.width - 5, PANEL.top + 5) == 0x18212C


def wallpaper_shown(frame: Frame) -> bool:
    """Return True once the gradient is painted: its rows differ."""
    top, bottom = frame.pixels[200, 300, :3], frame.pixels[-100, 300, :3]
    return bool((top != bottom).any())


def marked(folder: Path) -> list[psutil.Process]:
    def ours(process: psutil.Process) -> bool:
        try:
            return process.environ().get("DESKHAND_SESSION") == str(folder)
        except (psutil.Error, OSError):
            return False

    return [process for process in psutil.process_iter() if ours(process)]


def click(input_device: XTestInput, x: int, y: int) -> None:
    input_device.perform([PointerMotion(Point(x, y)), ButtonPress(1), ButtonRelease(1)])


def test_the_panel_opens_a_terminal_and_all_end_with_the_session(tmp_path: Path) -> None:
    with display(tmp_path) as running, framebuffer(running) as screen:
        with (
            XTestInput(running.server.display, running.server.xauthority) as input_device,
            session(running) as opened,
        ):
            asyncio.run(seen(screen, panel_shown))
            status = opened.status()
            assert all(status[name]["running"] for name in ("dbus-daemon", "openbox", "tint2"))
            click(input_device, 70, PANEL.top + 24)
            asyncio.run(seen(screen, lambda frame: colour_at(frame, 400, 290) == TERMINAL_COLOUR))
            assert marked(tmp_path)
        assert not marked(tmp_path)


def test_a_right_click_on_the_wallpaper_opens_nothing(tmp_path: Path) -> None:
    with (
        display(tmp_path) as running,
        framebuffer(running) as screen,
        XTestInput(running.server.display, running.server.xauthority) as input_device,
        session(running),
    ):
        asyncio.run(seen(screen, lambda frame: panel_shown(frame) and wallpaper_shown(frame)))
        before = screen.frame().pixels[200:210, 300:310]
        input_device.perform([PointerMotion(Point(300, 200)), ButtonPress(3), ButtonRelease(3)])
        # A window that the window manager maps afterwards proves that it has handled the click.
        # The window runs no shell, whose prompt would overwrite the colour that the test expects.
        small = ("terminal", "-geometry", "10x3", "-e", "sleep", "1000")
        running.spawner.spawn(
            ChildCommand(small, running.environment, tmp_path / "logs" / "small.log")
        )
        asyncio.run(seen(screen, lambda frame: painted(frame, TERMINAL_COLOUR) > 500))
        assert np.array_equal(screen.frame().pixels[200:210, 300:310], before)


def test_a_window_manager_that_dies_comes_back(tmp_path: Path) -> None:
    with display(tmp_path) as running, session(running) as opened:
        first = opened.status()["openbox"]["pid"]
        watched = psutil.Process(first)
        os.kill(first, signal.SIGKILL)
        watched.wait(PATIENCE)
        # The spawn thread takes orders one by one: this one comes after the restart.
        order = ChildCommand(("true",), running.environment, tmp_path / "logs" / "true.log")
        assert running.spawner.spawn(order).exited.wait(PATIENCE)
        status = opened.status()
        assert status["openbox"]["running"]
        assert status["openbox"]["pid"] != first
        assert status["window_manager_restarts"] == 1


def test_the_browser_shows_a_page_without_asking_anything(short_path: Path) -> None:
    page = short_path / "page.html"
    page.write_text(f"<title>Page</title><body style='background:#{PAGE_COLOUR:06x}'>")
    with display(short_path) as running, framebuffer(running) as screen, session(running) as opened:
        asyncio.run(seen(screen, panel_shown))
        browser = running.spawner.spawn(
            ChildCommand(
                ("browser", page.as_uri()), opened.environment, short_path / "logs" / "browser.log"
            )
        )
        corners = [(5, PANEL.top - 5), (795, PANEL.top - 5), (5, 150), (795, 150), (400, 300)]
        asyncio.run(
            seen(screen, lambda frame: all(colour_at(frame, *at) == PAGE_COLOUR for at in corners))
        )
        command = psutil.Process(browser.pid).cmdline()
        # For root there is none; for others it depends on the machine.
        assert "--no-sandbox" in command or os.geteuid() != 0
        assert opened.status()["browser_sandbox"]["on"] == ("--no-sandbox" not in command)
        browser.stop()


def test_wrappers_are_scripts_of_this_desktop(tmp_path: Path) -> None:
    with display(tmp_path) as running, session(running) as opened:
        for name in ("browser", "terminal"):
            script = tmp_path / "bin" / name
            assert script.read_text().startswith("#!/bin/sh\n")
            assert script.stat().st_mode & stat.S_IXUSR
            assert "@" not in script.read_text().replace('"$@"', "")
        assert opened.environment["PATH"].startswith(str(tmp_path / "bin"))
        assert opened.environment["DBUS_SESSION_BUS_ADDRESS"].startswith("unix:path=")


def test_a_missing_window_manager_is_named_before_anything_starts(tmp_path: Path) -> None:
    bare = tmp_path / "only"
    bare.mkdir()
    (bare / "dbus-daemon").symlink_to("/usr/bin/dbus-daemon")
    with display(tmp_path) as running:
        environment = running.environment | {"PATH": str(bare)}
        opened = DesktopSession(
            tmp_path,
            running.server.display,
            running.server.xauthority,
            environment,
            running.spawner,
            SessionFiles.read(),
            prepare("", "auto", environment),
        )
        with pytest.raises(MissingProgram, match="openbox"):
            opened.open()
        assert not marked(tmp_path)
        opened.close()
