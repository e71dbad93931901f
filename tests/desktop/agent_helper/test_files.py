import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.agent_helper.agent_helper import AgentHelper
from deskhand.desktop.agent_helper.downloads import DownloadEvents
from deskhand.desktop.agent_helper.files import HelperFiles
from deskhand.desktop.agent_helper.outputs import HelperOutputs
from deskhand.desktop.agent_helper.worker.server import CallContext, Operation, OperationResult
from deskhand.desktop.files.editing.edits import Edit
from deskhand.desktop.files.errors import FileError, FilesUnavailable, LostUpdate, NoSpaceLeft
from deskhand.desktop.files.preconditions import ALWAYS, Condition
from deskhand.desktop.files.requests import FileEdits
from deskhand.desktop.processes.errors import NoRoomForOutput
from deskhand.desktop.processes.output_copies import requested_copy
from tests.desktop.agent_helper.threaded import LIMIT, Threaded


def play(
    scenario: Callable[[AgentHelper, Threaded], Awaitable[None]],
    more: dict[str, Operation] | None = None,
) -> None:
    async def scene() -> None:
        start = Threaded(more=more)
        async with asyncio.timeout(LIMIT), AgentHelper(start) as helper:
            await scenario(helper, start)

    asyncio.run(scene())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_replacement_takes_its_place_only_by_commit(tmp_path: Path) -> None:
    async def scenario(helper: AgentHelper, start: Threaded) -> None:
        files = HelperFiles(helper)
        new = await files.replacement(tmp_path / "file")
        await asyncio.to_thread(new.write, b"x" * 1_000_000)
        assert "file" not in names(tmp_path)
        await new.commit("file", ALWAYS)
        await new.close()
        await new.close()
        assert (tmp_path / "file").stat().st_size == 1_000_000
        other = await files.replacement(tmp_path / "file")
        await other.close()
        assert names(tmp_path) == ["file"]

    play(scenario)


def test_a_condition_is_checked_by_the_helper(tmp_path: Path) -> None:
    async def scenario(helper: AgentHelper, start: Threaded) -> None:
        files = HelperFiles(helper)
        (tmp_path / "file").write_text("other")
        for act in (_short, _long):
            with pytest.raises(FileError, match="has other content") as raised:
                await act(files, tmp_path / "file", Condition(frozenset({"0"})))
            assert raised.value.status == LostUpdate.status
        assert (tmp_path / "file").read_text() == "other"

    play(scenario)


async def _short(files: HelperFiles, path: Path, condition: Condition) -> None:
    await files.write(path, b"new", str(path), condition)


async def _long(files: HelperFiles, path: Path, condition: Condition) -> None:
    new = await files.replacement(path)
    try:
        await new.commit(str(path), condition)
    finally:
        await new.close()


def test_a_replacement_of_a_helper_that_ended_is_not_committed(tmp_path: Path) -> None:
    async def scenario(helper: AgentHelper, start: Threaded) -> None:
        files = HelperFiles(helper)
        new = await files.replacement(tmp_path / "file")
        start.started[0].die()
        with pytest.raises(FilesUnavailable):
            await new.commit("file", ALWAYS)
        with pytest.raises(FilesUnavailable, match="was not changed"):
            await new.commit("file", ALWAYS)
        await new.close()
        await files.write(tmp_path / "file", b"again", "file", ALWAYS)
        assert (tmp_path / "file").read_bytes() == b"again"

    play(scenario)


def fifo(asked: dict[str, Any], call: CallContext) -> OperationResult:
    """Send a descriptor of a pipe, as a helper under attack may."""
    reading, writing = os.pipe()
    os.close(writing)
    return OperationResult({}, (reading,))


def test_descriptors_that_are_no_files_are_refused(tmp_path: Path) -> None:
    async def scenario(helper: AgentHelper, start: Threaded) -> None:
        files = HelperFiles(helper)
        with pytest.raises(FileError, match="is a FIFO"):
            await files.open(tmp_path / "f")
        with pytest.raises(FileError, match="is a FIFO"):
            await files.replacement(tmp_path / "f")
        with pytest.raises(OSError, match="is not a file"):
            await HelperOutputs(helper).open(tmp_path / "f")

    hostile = {name: Operation(fifo) for name in ("read", "replacement", "output")}
    play(scenario, hostile)


def test_a_disk_that_is_almost_full_takes_no_new_content(tmp_path: Path) -> None:
    async def scenario(helper: AgentHelper, start: Threaded) -> None:
        room = [""]
        files = HelperFiles(helper, lambda: room[0])
        (tmp_path / "file").write_text("old")
        new = await files.replacement(tmp_path / "other")
        room[0] = "the disk is almost full"
        change = FileEdits(str(tmp_path / "file"), (Edit("old", "new"),), "file")
        refused: tuple[Callable[[], Awaitable[object]], ...] = (
            lambda: files.write(tmp_path / "file", b"new", "file", ALWAYS),
            lambda: files.edit([change], diff=False),
            lambda: files.replacement(tmp_path / "file"),
            lambda: asyncio.to_thread(new.write, b"new"),
        )
        for act in refused:
            with pytest.raises(NoSpaceLeft, match="the disk is almost full"):
                await act()
        await new.close()
        assert names(tmp_path) == ["file"]
        assert (tmp_path / "file").read_text() == "old"
        with pytest.raises(NoRoomForOutput, match=r"^the disk is almost full$"):
            await requested_copy(HelperOutputs(helper, lambda: room[0]), str(tmp_path / "copy"))

    play(scenario)


def test_a_download_is_published_also_after_the_end_of_a_helper(tmp_path: Path) -> None:
    async def scenario(helper: AgentHelper, start: Threaded) -> None:
        published: asyncio.Queue[str] = asyncio.Queue()

        def publish(kind: str, data: dict[str, Any]) -> None:
            published.put_nowait(data["name"])

        async with DownloadEvents(helper, tmp_path / "new", publish):
            (tmp_path / "new" / "one").write_text("x")
            assert await published.get() == "one"
            start.started[0].die()
            # Files that appear until the successor observes the folder are not reported.
            number = 0
            while published.empty():
                number += 1
                (tmp_path / "new" / f"two-{number}").write_text("x")
                await asyncio.sleep(0)
            assert (await published.get()).startswith("two-")

    play(scenario)


def test_the_exit_of_a_process_is_written(tmp_path: Path) -> None:
    async def scenario(helper: AgentHelper, start: Threaded) -> None:
        outputs = HelperOutputs(helper)
        os.close(await outputs.open(tmp_path / "out"))
        await outputs.write_exit(tmp_path / "exit", {"exit_code": 3})
        assert (tmp_path / "exit").read_text() == '{"exit_code": 3}\n'
        with pytest.raises(IsADirectoryError):
            await outputs.open(tmp_path)

    play(scenario)
