"""The Python client with a desktop of its own."""

import asyncio
from pathlib import Path

import pytest

from desktop.errors import DesktopRefused, DesktopUnavailable
from desktop.geometry import Size
from desktop.remote import Desktop
from desktop.remote_sync import Desktop as BlockingDesktop
from tests.system.services import descendants_of, until

pytestmark = [pytest.mark.x11, pytest.mark.slow]


def test_a_launched_desktop_works_and_ends_with_its_block(tmp_path: Path) -> None:
    async def main() -> str:
        async with Desktop.launch("--size", "1280x800") as desktop:
            status = await desktop.status()
            assert status.size == Size(1280, 800)
            film = await desktop.recording.start(label="a run")
            assert (await desktop.screenshot()).data.startswith(b"\x89PNG")
            await desktop.mouse.click(100, 100)
            home = (await desktop.run('printf %s "$HOME"')).output
            note = f"{home}/note.json"
            await desktop.write_file(note, '{"a": 1}')
            assert await desktop.read_file(note) == b'{"a": 1}'
            failed = await desktop.run("cat nothing; exit 3")
            assert failed.exit_code == 3
            assert "nothing" in failed.output
            with pytest.raises(TimeoutError):
                await desktop.run("sleep 300", timeout=0.2)
            with pytest.raises(DesktopRefused) as caught:
                await desktop.read_file("/no/such/file")
            assert caught.value.status == 404
            stored = await desktop.recording.stop(film)
            assert stored.status == "stored"
            assert [one.id for one in await desktop.recording.list()] == [film]
            to = tmp_path / "film.mp4"
            assert await desktop.recording.download(film, to) == to.stat().st_size
            assert (await desktop.recording.get(film)).label == "a run"
            await desktop.recording.delete(film)
            assert await desktop.recording.list() == ()
        with pytest.raises(DesktopUnavailable):
            await desktop.status()
        return status.instance_id

    instance = asyncio.run(main())
    until(lambda: not descendants_of(instance), "the end of everything the desktop started")


def test_without_a_loop_it_is_the_same() -> None:
    with BlockingDesktop.launch() as desktop:
        instance = desktop.status().instance_id
        assert desktop.run("echo here").output == "here\n"
        before = desktop.screenshot()
        assert desktop.screenshot(since=before.frame_id).unchanged
    until(lambda: not descendants_of(instance), "the end of everything the desktop started")
