import asyncio
import os
from pathlib import Path
from typing import Any, BinaryIO

from fastapi import FastAPI
from fastapi.testclient import TestClient

from deskhand.desktop.context.api import router
from deskhand.desktop.context.context import LARGEST_FILE, MOST_SKILLS, ContextReader
from deskhand.desktop.files.errors import MissingFile

Json = dict[str, Any]


class DiskFiles:
    """The files of this machine, as the agent helper opens them."""

    async def open(self, path: Path) -> BinaryIO:
        try:
            return path.open("rb")
        except OSError as error:
            raise MissingFile(str(path)) from error

    async def listing(self, path: Path) -> Json:
        try:
            names = await asyncio.to_thread(os.listdir, path)
            return {"contents": [{"name": name} for name in names]}
        except OSError as error:
            raise MissingFile(str(path)) from error


class SlowFiles(DiskFiles):
    """Lists nothing, ever."""

    async def listing(self, path: Path) -> Json:
        await asyncio.Event().wait()
        return {}


def reader(folder: Path, files: DiskFiles | None = None, seconds: float = 20.0) -> ContextReader:
    home = folder / "home"
    return ContextReader(files or DiskFiles(), folder / "work", lambda: home, {}, seconds=seconds)


def write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def skill(folder: Path, name: str, text: str = "") -> None:
    write(folder / name / "SKILL.md", text or f"---\nname: {name}\ndescription: Do {name}.\n---\n")


def read(folder: Path, below: str = "") -> Json:
    return asyncio.run(reader(folder).read(below)).to_json()


def test_instructions_and_skills_are_read(tmp_path: Path) -> None:
    write(tmp_path / "home/.deskhand/AGENTS.md", "Be brief.\r\n")
    write(tmp_path / "work/agents.MD", "Use make.<!-- hidden -->")
    skill(tmp_path / "work/.agents/skills", "forms")
    assert read(tmp_path) == {
        "working_dir": str(tmp_path / "work"),
        "home": str(tmp_path / "home"),
        "lasting_dirs": None,
        "operating_system": "linux",
        "parts": [
            {
                "type": "context-file",
                "path": str(tmp_path / "home/.deskhand/AGENTS.md"),
                "content": "Be brief.",
                "truncated": False,
            },
            {
                "type": "context-file",
                "path": str(tmp_path / "work/agents.MD"),
                "content": "Use make.",
                "truncated": False,
            },
            {
                "type": "skill",
                "name": "forms",
                "description": "Do forms.",
                "dir": str(tmp_path / "work/.agents/skills/forms"),
                "meta_file": str(tmp_path / "work/.agents/skills/forms/SKILL.md"),
            },
        ],
    }


def test_nothing_is_read_where_there_is_nothing(tmp_path: Path) -> None:
    assert read(tmp_path)["parts"] == []


def test_a_directory_below_the_working_one_has_a_context_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "work/AGENTS.md", "Above")
    write(tmp_path / "work/a/b/AGENTS.md", "Below")
    answer = read(tmp_path, "a/b")
    assert answer["working_dir"] == str(tmp_path / "work/a/b")
    assert [part["content"] for part in answer["parts"]] == ["Below"]


def test_the_exact_name_counts_before_others(tmp_path: Path) -> None:
    write(tmp_path / "work/AGENTS.MD", "Capitals")
    write(tmp_path / "work/AGENTS.md", "Exact")
    assert [part["content"] for part in read(tmp_path)["parts"]] == ["Exact"]


def test_a_long_file_is_cut_and_an_empty_one_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "home/.deskhand/AGENTS.md", "é" * LARGEST_FILE)
    write(tmp_path / "work/AGENTS.md", "<!-- nothing -->")
    (part,) = read(tmp_path)["parts"]
    assert part["truncated"]
    assert part["content"] == "é" * (LARGEST_FILE // 2)


def test_broken_skills_are_left_out(tmp_path: Path) -> None:
    skills = tmp_path / "work/.agents/skills"
    skill(skills, "good")
    skill(skills, "other", "---\nname: good\n---\n")
    skill(skills, "none", "Nothing")
    skill(skills, "long", "---\nname: long\n---\n" + "a" * LARGEST_FILE)
    (skills / "folder/SKILL.md").mkdir(parents=True)
    write(skills / "file", "a")
    (skills / "loop").symlink_to(skills / "loop")
    assert [part["name"] for part in read(tmp_path)["parts"]] == ["good"]


def test_there_are_at_most_so_many_skills(tmp_path: Path) -> None:
    for number in range(MOST_SKILLS + 2):
        skill(tmp_path / "work/.agents/skills", f"s{number:04}")
    assert len(read(tmp_path)["parts"]) == MOST_SKILLS


def test_what_takes_too_long_is_left_out(tmp_path: Path) -> None:
    context = asyncio.run(reader(tmp_path, SlowFiles(), seconds=0.0).read())
    assert context.to_json()["parts"] == []


def test_the_route_answers_below_the_working_directory_only(tmp_path: Path) -> None:
    write(tmp_path / "work/a/AGENTS.md", "Below")
    app = FastAPI()
    app.include_router(router(reader(tmp_path)))
    with TestClient(app) as client:
        below = client.get("/api/v0/context-config", params={"workdir": "a"})
        assert len(below.json()["parts"]) == 1
        alone = client.get("/api/v0/context-config", params={"workdir": "a", "parts": "false"})
        assert (alone.json()["working_dir"], alone.json()["parts"]) == (f"{tmp_path}/work/a", [])
        for path in ("/etc", "../x", "a/../../x", "a\0b", "a" * 2000):
            refused = client.get("/api/v0/context-config", params={"workdir": path})
            assert refused.status_code in (400, 422)
