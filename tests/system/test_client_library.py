"""The Python client with a desktop of its own."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from deskhand.desktop.errors import DesktopOccupied, DesktopUnavailable, NotOnDesktop
from deskhand.desktop.geometry import Size
from deskhand.desktop.remote import Desktop
from deskhand.desktop.remote_sync import Desktop as BlockingDesktop
from tests.system.services import PATIENCE, descendants_of, until

pytestmark = pytest.mark.x11


def test_a_launched_desktop_works_and_ends_with_its_block(tmp_path: Path) -> None:
    async def main() -> str:
        async with Desktop.launch("--size", "1280x800") as desktop:
            status = await desktop.status()
            assert status.size == Size(1280, 800)
            recording_id = await desktop.recording.start(label="a run")
            assert (await desktop.screenshot()).data.startswith(b"\x89PNG")
            await desktop.mouse.click(100, 100)
            home = (await desktop.run('printf %s "$HOME"')).output
            note = f"{home}/note.json"
            await desktop.write_file(note, '{"a": 1}')
            assert await desktop.read_file(note) == b'{"a": 1}'
            numbers = await desktop.run("seq 1 200000")
            assert (len(numbers.output.splitlines()), numbers.truncated) == (200_000, False)
            line = json.dumps("x" * 9_000)
            assert (await desktop.run(f"echo '{line}'")).output == f"{line}\n"
            cut = await desktop.run("seq 1 200000", limit=9)
            assert (cut.output, cut.truncated) == ("1\n2\n3\n4\n5", True)
            failed = await desktop.run("cat nothing; exit 3")
            assert failed.exit_code == 3
            assert "nothing" in failed.output
            with pytest.raises(TimeoutError):
                await desktop.run("sleep 300", timeout=0.2)
            with pytest.raises(NotOnDesktop):
                await desktop.read_file("/no/such/file")
            stored = await desktop.recording.stop(recording_id)
            assert stored.status == "stored"
            assert [one.id for one in await desktop.recording.list()] == [recording_id]
            to = tmp_path / "film.mp4"
            assert await desktop.recording.download(recording_id, to) == to.stat().st_size
            assert (await desktop.recording.get(recording_id)).label == "a run"
            await desktop.recording.delete(recording_id)
            assert await desktop.recording.list() == ()
            await look_around(desktop)
        with pytest.raises(DesktopUnavailable):
            await desktop.status()
        return status.instance_id

    instance = asyncio.run(main())
    until(lambda: not descendants_of(instance), "the end of everything the desktop started")


async def look_around(desktop: Desktop) -> None:
    assert await desktop.clipboard.text() is None
    await desktop.clipboard.set_text("Grüße 語 😀")
    assert await desktop.clipboard.text() == "Grüße 語 😀"
    await desktop.clipboard.set_image((await desktop.screenshot(region=(0, 0, 9, 9))).data)
    assert ((await desktop.clipboard.image()) or b"").startswith(b"\x89PNG")
    await desktop.clipboard.restore()
    assert await desktop.clipboard.text() == "Grüße 語 😀"
    assert "terminal" in {one.name for one in await desktop.applications.list()}
    async with desktop.events() as events:
        # The stream is open before the window is, for both are asked of one service in order.
        started = await desktop.applications.launch_command("xterm -T titled", "-e", "cat")
        assert started.process_id
        opened = await events.expect("window_opened", timeout=PATIENCE)
        assert opened is not None
        (window,) = await desktop.windows.list()
        assert (window.title, window.native_region.size) == ("titled", window.region.size)
        for moved in (
            await desktop.windows.move(window.id, 60, 70),
            await desktop.windows.focus(window.id),
        ):
            assert moved is not None
            assert moved.id == window.id
        await desktop.windows.close(window.id)
        assert (await events.expect("window_closed", timeout=PATIENCE)) is not None
        with pytest.raises(NotOnDesktop):
            await desktop.windows.focus(window.id)
        with pytest.raises(NotOnDesktop, match="terminal"):
            await desktop.applications.launch("no such thing")
        taken = await desktop.lease.take("Ann", private=False)
        assert (taken.granted, taken.kind, taken.holder) == (True, "person", "Ann")
        assert (await events.expect("lease_changed", timeout=PATIENCE)) is not None
        with pytest.raises(DesktopOccupied) as caught:
            await desktop.mouse.click(1, 1)
        assert caught.value.code == "human_in_control"
        assert (await desktop.lease.release("Ann")).kind == "nobody"


OWNER = """
import time
from deskhand.desktop.remote_sync import Desktop
with Desktop.launch() as desktop:
    print(desktop.status().instance_id, flush=True)
    time.sleep(600)
"""


def test_a_launched_desktop_ends_with_a_program_that_is_killed() -> None:
    command = [sys.executable, "-c", OWNER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        instance = owner.stdout.readline().strip()
        assert descendants_of(instance)
        owner.kill()
    until(lambda: not descendants_of(instance), "the end of everything the desktop started")


def test_without_a_loop_it_is_the_same() -> None:
    with BlockingDesktop.launch() as desktop:
        with desktop.events() as events:
            assert desktop.lease.take("Bob").granted
            published = events.expect("lease_changed", timeout=PATIENCE)
            assert published is not None
            with pytest.raises(TimeoutError):
                events.expect("never", timeout=0.0)
            desktop.lease.end("Bob")
            assert next(events).kind == "lease_changed"
        with desktop.events(since=published.id) as events:
            assert next(events).kind == "lease_changed"
        desktop.clipboard.set_text("again", restore_after=60)
        assert desktop.clipboard.text() == "again"
        assert desktop.windows.list() == ()
        instance = desktop.status().instance_id
        assert desktop.run("echo here").output == "here\n"

        def is_unchanged() -> bool:
            # The session may still be painting its panel.
            return desktop.screenshot(since=desktop.screenshot().frame_id).unchanged

        until(is_unchanged, "the same picture again")
    until(lambda: not descendants_of(instance), "the end of everything the desktop started")
