"""The context that an agent's files give it: instructions, and skills that it may read later.

    instruction directories, working directory ── AGENTS.md ──> context files, with their text
    skill directories ── NAME/SKILL.md ──> skills, with name and description only

Every file is opened by the agent helper with the agent's rights. A file that is missing, unreadable
or not as it must be is left out and logged: a broken file must not keep an agent from working. Of
two skills with one name the first counts. Texts are sanitized (:mod:`.sanitizing`), because they
may come from repositories that other people write.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from deskhand.desktop.files.errors import FileError

from .places import ContextPlaces, context_places
from .sanitizing import sanitized
from .skill_meta import BadSkill, SkillMeta, skill_meta

log = logging.getLogger(__name__)
Json = dict[str, Any]

LARGEST_FILE = 64 * 1024
"""Bytes of an instruction file, the rest of which is cut off, or of the file of a skill."""
MOST_SKILLS = 200
SECONDS = 10.0
"""Time for all files; what was not read by then is left out."""


class ReadFiles(Protocol):
    """The agent's files. All methods raise FileError."""

    async def open(self, path: Path) -> BinaryIO:
        """Open a regular file for reading."""

    async def listing(self, path: Path) -> Json:
        """Return the answer that lists a directory."""


@dataclass(frozen=True)
class ContextFile:
    """An instruction file."""

    path: str
    content: str
    truncated: bool

    def to_json(self) -> Json:
        """Return the part of the answer."""
        return {"type": "context-file", **vars(self)}


@dataclass(frozen=True)
class Skill:
    """A skill that an agent may read."""

    meta: SkillMeta
    dir: str
    meta_file: str
    """Path of the file with its name, description and text."""

    def to_json(self) -> Json:
        """Return the part of the answer."""
        names = {"name": self.meta.name, "description": self.meta.description}
        return {"type": "skill", **names, "dir": self.dir, "meta_file": self.meta_file}


@dataclass(frozen=True)
class AgentContext:
    """The context in one working directory."""

    workdir: Path
    home: Path
    parts: Sequence[ContextFile | Skill]
    lasting: Sequence[Path] | None = None
    """Directories of the agent whose files outlive the desktop; None if all may."""

    def to_json(self) -> Json:
        """Return the answer of the route."""
        lasting = None if self.lasting is None else [str(one) for one in self.lasting]
        return {
            "parts": [part.to_json() for part in self.parts],
            "working_dir": str(self.workdir),
            "home": str(self.home),
            "lasting_dirs": lasting,
            "operating_system": "linux",
        }


class ContextReader:
    """Reads the context from the places that variables of ``environment`` name."""

    def __init__(
        self,
        files: ReadFiles,
        workdir: Path,
        home: Callable[[], Path],
        environment: Mapping[str, str],
        *,
        lasting: Sequence[Path] | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._files = files
        self._workdir = workdir
        self._home = home
        self._environment = environment
        self._lasting = lasting
        self._seconds = seconds

    async def read(self, below: str = "", *, parts: bool = True) -> AgentContext:
        """Read the context of the desktop's working directory, or of a directory below it.

        Without ``parts`` no file is read.
        """
        workdir, home = self._workdir / below, self._home()
        if not parts:
            return AgentContext(workdir, home, (), self._lasting)
        found: list[ContextFile | Skill] = []
        try:
            async with asyncio.timeout(self._seconds):
                await self._read(context_places(self._environment, home, workdir), found)
        except TimeoutError:
            log.warning("the context in %s is not complete: it takes too long to read", workdir)
        return AgentContext(workdir, home, found, self._lasting)

    async def _read(self, places: ContextPlaces, found: list[ContextFile | Skill]) -> None:
        for folder in places.instruction_dirs:
            file = await self._instructions(folder, places.instruction_file)
            if file is not None:
                found.append(file)
        names: set[str] = set()
        for folder in places.skill_dirs:
            for name in await self._names(folder):
                skill = await self._skill(folder / name, places.skill_file)
                if skill is None or skill.meta.name in names:
                    continue
                if len(names) >= MOST_SKILLS:
                    log.warning("skills beyond the first %d are left out", MOST_SKILLS)
                    return
                names.add(skill.meta.name)
                found.append(skill)

    async def _instructions(self, folder: Path, name: str) -> ContextFile | None:
        for path in await self._matching(folder, name):
            data = await self._content(path)
            if data is None:
                continue
            text = sanitized(data[:LARGEST_FILE].decode("utf-8", "ignore"))
            if text:
                return ContextFile(str(path), text, len(data) > LARGEST_FILE)
        return None

    async def _skill(self, folder: Path, name: str) -> Skill | None:
        for path in await self._matching(folder, name):
            data = await self._content(path)
            if data is None:
                continue
            try:
                if len(data) > LARGEST_FILE:
                    raise BadSkill(f"it has more than {LARGEST_FILE} bytes")
                meta = skill_meta(data.decode("utf-8", "replace"), folder.name)
            except BadSkill as error:
                log.warning("the skill %s is left out: %s", path, error)
                continue
            return Skill(meta, str(folder), str(path))
        return None

    async def _matching(self, folder: Path, name: str) -> Sequence[Path]:
        names = await self._names(folder)
        wanted = name.casefold()
        # The exact name first: others differ only in the case of letters.
        found = sorted((one for one in names if one.casefold() == wanted), key=lambda n: n != name)
        return [folder / one for one in found]

    async def _names(self, folder: Path) -> Sequence[str]:
        try:
            listing = await self._files.listing(folder)
        except (FileError, OSError):
            return ()
        return sorted(entry["name"] for entry in listing.get("contents") or ())

    async def _content(self, path: Path) -> bytes | None:
        try:
            with await self._files.open(path) as file:
                return await asyncio.to_thread(file.read, LARGEST_FILE + 1)
        except (FileError, OSError) as error:
            log.warning("%s is left out: %s", path, error)
            return None
