"""The agent's files, read through the port of the file routes."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, BinaryIO, cast

from deskhand.desktop.files.api import AgentFiles
from deskhand.desktop.files.errors import BadPath, MissingFile
from deskhand.desktop.mcp_client.agent_files import AgentConfigFiles
from deskhand.desktop.mcp_client.config_file import LARGEST_FILE
from deskhand.desktop.mcp_client.ports import ConfigFile
from tests.desktop.agent_helper.threaded import agent_files

PATIENCE = 20.0


class FolderFiles:
    """The one operation of ``AgentFiles`` that is used."""

    async def open(self, path: Path) -> BinaryIO:
        return opened(path)


def opened(path: Path) -> BinaryIO:
    if path.is_dir():
        raise BadPath("it is a directory")
    if not path.exists():
        raise MissingFile(str(path))
    return path.open("rb")


def read(paths: Sequence[Path]) -> tuple[Sequence[ConfigFile], Sequence[ConfigFile]]:
    async def inside() -> Any:
        files = AgentConfigFiles(cast(AgentFiles, FolderFiles()), paths)
        return await files.stamps(), await files.read()

    found: tuple[Sequence[ConfigFile], Sequence[ConfigFile]] = asyncio.run(inside())
    return found


def test_files_have_stamps_and_content(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"{}")
    stamps, files = read([file, tmp_path / "none", tmp_path])
    facts = file.stat()
    assert [one.stamp for one in stamps] == [(facts.st_mtime_ns, 2), None, None]
    assert [one.content for one in stamps] == [None] * 3
    assert [one.content for one in files] == [b"{}", None, None]
    assert [one.problem for one in files] == ["", "", "it is a directory"]


def test_a_large_file_is_not_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b" " * (LARGEST_FILE + 100))
    (found,) = read([file])[1]
    assert found.content is not None
    assert len(found.content) == LARGEST_FILE + 1


def test_changes_of_the_first_file_that_exists_are_observed(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"{}")

    async def inside() -> None:
        async with asyncio.timeout(PATIENCE), agent_files() as files:
            found = AgentConfigFiles(files, [tmp_path / "none", file])
            async with aclosing(found.changes()) as changes:
                await anext(changes)
                (tmp_path / "other").write_bytes(b"")
                replacement = tmp_path / "b"
                replacement.write_bytes(b"{}")
                replacement.rename(file)
                await anext(changes)
            assert [one async for one in AgentConfigFiles(files, [tmp_path / "x"]).changes()] == []

    asyncio.run(inside())
