"""Real git, a real remote on loopback that asks for a name and a password, real commands."""

import asyncio
import base64
import stat
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from deskhand.desktop.git.askpass import Askpass
from deskhand.desktop.git.attribution import Attribution
from deskhand.desktop.git.credentials import GitCredentials, credential
from deskhand.desktop.git.touched_paths import PathStore
from deskhand.desktop.processes.registry import Registry
from deskhand.desktop.processes.requests import OutputRequest, StartRequest
from deskhand.desktop.tool_calls.caller import CallingChat
from tests.desktop.git.test_repositories import git
from tests.desktop.processes.service import LIMIT, FakeSurroundings
from tests.system.reporting_page import serving

CHAT, OTHER = str(uuid4()), str(uuid4())
NAME, PASSWORD = "m@e", "pass = wörd %s\\n"
CLONE = "git -c init.defaultBranch=main clone -q"


class Guarded(SimpleHTTPRequestHandler):
    """Serves files to clients that send the name and the password."""

    def do_GET(self) -> None:
        wanted = base64.b64encode(f"{NAME}:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") == f"Basic {wanted}":
            super().do_GET()
            return
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="x"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("remote")
    work = folder / "work"
    work.mkdir()
    git(work, "init", "-q")
    (work / "file").write_text("from afar\n")
    git(work, "add", ".")
    git(work, "commit", "-qm", "first")
    subprocess.run(["git", "clone", "-q", "--bare", work, folder / "r.git"], check=True)
    git(folder / "r.git", "update-server-info")
    handler = partial(Guarded, directory=str(folder))
    with serving(handler) as port:
        yield f"http://127.0.0.1:{port}"


@dataclass
class GitSetup:
    """A registry whose commands have the script, and what came of it."""

    registry: Registry
    credentials: GitCredentials
    attribution: Attribution
    store: PathStore
    published: list[tuple[str, Any]] = field(default_factory=list)

    async def run(self, command: str, chat: CallingChat | None = None) -> str:
        process_id, _ = await self.registry.start(StartRequest(command), chat)
        record = self.registry.find(process_id, chat)
        await self.registry.wait(record, OutputRequest("exit"))
        assert record.process.exit is not None
        return f"{record.process.exit.code} {record.process.buffer.snapshot().text}"


def play(folder: Path, scenario: Callable[[GitSetup], Awaitable[None]]) -> None:
    async def scene() -> None:
        store, credentials = PathStore(), GitCredentials()
        published: list[tuple[str, Any]] = []
        attribution = Attribution(
            store, credentials, lambda kind, data: published.append((kind, data)), lambda: 101.0
        )
        private = folder / "it's private"
        private.mkdir()
        command_environment = FakeSurroundings(folder)
        with Askpass(private / "askpass", private / "requests", attribution.answer) as askpass:
            command_environment.extra = askpass.environment
            async with asyncio.timeout(LIMIT), Registry(command_environment) as registry:
                await scenario(GitSetup(registry, credentials, attribution, store, published))
            assert {path.name for path in private.iterdir()} == {"askpass", "requests"}
        assert not (private / "requests").exists()

    asyncio.run(scene())


def test_git_gets_the_password_and_the_chat_gets_the_mark(tmp_path: Path, remote: str) -> None:
    async def scenario(setup: GitSetup) -> None:
        setup.credentials.put(credential(remote, NAME, PASSWORD))
        with setup.store.subscribed(CHAT) as woken, setup.store.subscribed(OTHER) as others:
            output = await setup.run(f"{CLONE} {remote}/r.git c && cat c/file", CallingChat(CHAT))
            assert output == "0 from afar\n"
            assert woken.is_set()
            assert not others.is_set()
        # During a clone git 2.39 is on the branch to be, and git 2.47 on none.
        marked = setup.attribution.refs()[CHAT].to_json()
        assert marked.pop("branch") in ("main", "HEAD")
        assert marked == {"remote_origin": f"{remote}/r.git", "stale_at": 100.0}
        assert set(setup.attribution.refs()) == {CHAT}
        marked = setup.attribution.refs()[CHAT].to_json()
        assert setup.published == [("diff_status_change", {"chat_id": CHAT, **marked})]

    play(tmp_path, scenario)


def test_where_git_is_on_no_branch_the_chat_gets_the_mark_of_head(
    tmp_path: Path, remote: str
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    # As git 2.47 does during a clone.
    fake = (
        "#!/bin/sh\ncase $1 in symbolic-ref) exit 128 ;; *) echo http://127.0.0.1/r.git ;; esac\n"
    )
    (programs / "git").write_text(fake)
    (programs / "git").chmod(0o755)

    async def scenario(setup: GitSetup) -> None:
        setup.credentials.put(credential(remote, NAME, PASSWORD))
        server = remote.replace("://", f"://{quote(NAME)}@")
        ask = f'PATH={programs}:$PATH "$GIT_ASKPASS" "Password for \'{server}\': "'
        with setup.store.subscribed(CHAT):
            assert await setup.run(ask, CallingChat(CHAT)) == f"0 {PASSWORD}\n"
        assert setup.attribution.refs()[CHAT].to_json() == {
            "branch": "HEAD",
            "remote_origin": "http://127.0.0.1/r.git",
            "stale_at": 100.0,
        }

    play(tmp_path, scenario)


def test_without_a_chat_all_chats_get_the_mark(tmp_path: Path, remote: str) -> None:
    async def scenario(setup: GitSetup) -> None:
        setup.credentials.put(credential(remote, NAME, PASSWORD))
        setup.store.note(CallingChat(OTHER), ["/somewhere"])
        with setup.store.subscribed(CHAT):
            assert await setup.run(f"git clone -q {remote}/r.git c") == "0 "
        assert set(setup.attribution.refs()) == {CHAT, OTHER}

    play(tmp_path, scenario)


def test_without_a_credential_git_fails_at_once(tmp_path: Path, remote: str) -> None:
    async def scenario(setup: GitSetup) -> None:
        setup.credentials.put(credential("https://elsewhere", NAME, PASSWORD))
        output = await setup.run(
            f"GIT_TERMINAL_PROMPT=0 git clone {remote}/r.git c", CallingChat(CHAT)
        )
        assert output.startswith("128 ")
        assert "deskhand: nothing is known here that answers: Username for" in output
        assert not setup.attribution.refs()

    play(tmp_path, scenario)


def test_only_what_is_known_is_answered(tmp_path: Path) -> None:
    async def scenario(setup: GitSetup) -> None:
        setup.credentials.put(credential("https://host", "me", PASSWORD))
        mine = "Password for 'https://me@host': "
        assert await setup.run(f'"$GIT_ASKPASS" "{mine}"') == f"0 {PASSWORD}\n"
        for prompt in (
            "Password for 'https://you@host': ",
            "Enter passphrase for key '/home/me/.ssh/id_ed25519': ",
            "Are you sure you want to continue connecting (yes/no)? ",
            "",
        ):
            output = await setup.run(f'"$SSH_ASKPASS" "{prompt}" 2>&-')
            assert output == "1 "

    play(tmp_path, scenario)


def test_an_id_that_is_no_chat_marks_no_chat(tmp_path: Path, remote: str) -> None:
    async def scenario(setup: GitSetup) -> None:
        setup.credentials.put(credential(remote, NAME, PASSWORD))
        setup.store.note(CallingChat(OTHER), ["/somewhere"])
        output = await setup.run(f"DESKHAND_CHAT_ID=others git clone -q {remote}/r.git c")
        assert output == "0 "
        assert not setup.attribution.refs()

    play(tmp_path, scenario)


def test_garbage_in_the_pipe_does_no_harm(tmp_path: Path) -> None:
    async def scenario(setup: GitSetup) -> None:
        setup.credentials.put(credential("https://host", "me", PASSWORD))
        pipe = '"$(dirname "$GIT_ASKPASS")/requests"'
        line = "Username for 'https://host': "
        assert await setup.run(f"head -c 100000 /dev/zero > {pipe}") == "0 "
        assert await setup.run(f"printf '\\n1\\t\\t\\t\\t{line}\\n' > {pipe}") == "0 "
        assert await setup.run(f'"$GIT_ASKPASS" "{line}"') == "0 me\n"

    play(tmp_path, scenario)


def test_the_script_is_its_owners_alone(tmp_path: Path) -> None:
    async def scenario(setup: GitSetup) -> None:
        path = tmp_path / "it's private" / "askpass"
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert PASSWORD not in path.read_text()

    play(tmp_path, scenario)


def test_where_it_cannot_be_opened_commands_do_without(tmp_path: Path) -> None:
    async def scene() -> None:
        absent = tmp_path / "absent"
        with Askpass(absent / "askpass", absent / "requests", lambda _: None) as askpass:
            assert askpass.environment == {}

    asyncio.run(scene())
    assert not list(tmp_path.iterdir())
