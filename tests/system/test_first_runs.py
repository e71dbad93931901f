"""First runs of a newcomer that fail: one sentence each, exit status 5 and no stack trace."""

import asyncio
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

from deskhand.tools.agents.scripted.script.script import read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.system.services import PATIENCE

pytestmark = [pytest.mark.x11, pytest.mark.soak]

COMMAND = "from deskhand.tools.cli import main; main()"
OWN = ("PATH", "DESKHAND_RUN_DIR", "DESKHAND_USERS", "DESKHAND_UID_BASE")
"""Variables of a bare environment."""


@dataclass(frozen=True)
class Newcomer:
    """One provider as a newcomer meets it."""

    title: str
    variable: str
    base_url: str
    path: str
    model: str
    prefix: str
    host: str
    package: str
    install: str

    def __str__(self) -> str:
        return self.title


ANTHROPIC = Newcomer(
    *("Anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "", "claude-opus-5-5"),
    *("anthropic", "api.anthropic.com", "anthropic", "deskhand"),
)
OPENAI = Newcomer(
    *("OpenAI", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", "gpt-6.2-sol"),
    *("openai", "api.openai.com", "openai", "deskhand[openai]"),
)
GEMINI = Newcomer(
    *("Google", "GEMINI_API_KEY", "GEMINI_BASE_URL", "", "gemini-3.5-flash"),
    *("gemini", "generativelanguage.googleapis.com", "google", "deskhand[gemini]"),
)


def newcomers(quick: Newcomer) -> pytest.MarkDecorator:
    """Run a test as each of the newcomers; all but one of them before a release only."""
    return pytest.mark.parametrize(
        "who",
        [
            pytest.param(who, marks=() if who is quick else pytest.mark.full)
            for who in (ANTHROPIC, OPENAI, GEMINI)
        ],
        ids=str,
    )


def first_run(
    folder: Path, *arguments: str, python: str = sys.executable, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a task in an environment that has only what a process needs."""
    bare = {name: os.environ[name] for name in OWN if name in os.environ}
    data = {"HOME": str(folder), "DESKHAND_DATA_DIR": str(folder / "data")}
    return subprocess.run(
        [python, "-c", COMMAND, "run", "show the date", *arguments],
        capture_output=True,
        text=True,
        env={**bare, **data, **variables},
        cwd=folder,
        timeout=5 * PATIENCE,
        check=False,
    )


def assert_one_sentence(ended: subprocess.CompletedProcess[str], sentence: str) -> None:
    assert ended.returncode == 5, ended
    assert ended.stderr.splitlines() == [f"deskhand: {sentence}"]
    assert "Traceback" not in ended.stdout


def test_without_a_key(tmp_path: Path) -> None:
    ended = first_run(tmp_path)
    assert "example script scripted:tour plays" in ended.stdout
    assert "Outcome: done" in ended.stdout
    assert_one_sentence(
        ended, "not done: no model: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY"
    )


@newcomers(OPENAI)
def test_with_a_key_and_without_its_client(tmp_path: Path, who: Newcomer) -> None:
    python = without_package(tmp_path / "python", who.package)
    ended = first_run(tmp_path, python=python, **{who.variable: "k"})
    assert_one_sentence(
        ended,
        f"{who.variable} is set, but its client is not installed: pip install '{who.install}'",
    )


def without_package(folder: Path, package: str) -> str:
    """Make a virtual environment with all packages of this one but one; return its Python."""
    venv.create(folder, with_pip=False)
    mine = next(Path(path) for path in sys.path if path.endswith("site-packages"))
    site = next(folder.glob("lib/python3*/site-packages"))
    for entry in mine.iterdir():
        if entry.name != package and not entry.name.startswith(f"{package}-"):
            site.joinpath(entry.name).symlink_to(entry)
    return str(folder / "bin/python")


@newcomers(ANTHROPIC)
def test_with_a_wrong_key(tmp_path: Path, who: Newcomer) -> None:
    ended, status = asyncio.run(against_a_server(tmp_path, who, "wrong"))
    assert_one_sentence(
        ended,
        f"{who.title} refused {who.variable} ({status}): set a valid key and run the same command"
        " again",
    )


@newcomers(GEMINI)
def test_without_credit(tmp_path: Path, who: Newcomer) -> None:
    ended, _ = asyncio.run(against_a_server(tmp_path, who))
    assert_one_sentence(
        ended,
        f"{who.title} accepted {who.variable}, but the account has no credit: add credit, or"
        " choose another provider with --model",
    )


async def against_a_server(
    folder: Path, who: Newcomer, key: str | None = None
) -> tuple[subprocess.CompletedProcess[str], int]:
    """Run against the scripted server; return the status of its refusal too."""
    fault = {"kind": "no_credit", "times": 99}
    script = read_script("poor", {"steps": [{"say": "x", "fault": fault}]})
    async with ScriptedModelServer([script]) as server:
        variables = {who.variable: key or server.api_key, who.base_url: f"{server.url}{who.path}"}
        model = f"--model={who.prefix}:poor"
        ended = await asyncio.to_thread(first_run, folder, model, **variables)
        return ended, server.log[-1].status


@newcomers(ANTHROPIC)
def test_without_network(tmp_path: Path, who: Newcomer) -> None:
    # A proxy that is not there: no request leaves this machine.
    proxy = {"HTTPS_PROXY": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1"}
    ended = first_run(tmp_path, **proxy, **{who.variable: "k"})
    assert_one_sentence(
        ended,
        f"{who.host} cannot be reached: check the network or HTTPS_PROXY; doctor shows which"
        " hosts answer",
    )
