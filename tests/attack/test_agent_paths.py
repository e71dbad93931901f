"""An agent uses the service's routes to open files, or to run programs, with the service's rights.

The agent prepares its own files by commands: repositories whose configuration names programs,
links, FIFOs. Then each route of files, git and search is called on them. Nothing may happen with
the rights of the service's user: the agent's programs run as the agent's user, and files that only
the service may use are neither read nor changed.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx2
import psutil
import pytest
from websockets.sync.client import ClientConnection, connect

from tests.live_trees import commands_below, contents_below, statuses_below
from tests.system.services import PATIENCE, Json, Service, service

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the level is 'shared' here"),
]

API = "/api/v0"


@dataclass(frozen=True)
class Target:
    """A desktop under attack."""

    desktop: Service
    folder: Path
    """Directory of the desktop."""
    agent: int
    """User of commands."""
    owner: int
    """User of the service."""
    evidence: Path
    """A finished recording's directory."""

    def run(self, command: str, **more: object) -> Json:
        """Run a command as the agent does, and wait for its end."""
        started = self.desktop.post(f"{API}/processes/start", {"command": command, **more})
        ended = self.desktop.get(f"{API}/processes/{started['id']}/output?wait=true")
        assert not ended["running"], command
        return ended

    def must_run(self, command: str) -> str:
        """Run a command that has to succeed; return its output."""
        ended = self.run(command)
        assert ended["exit_code"] == 0, ended
        return str(ended["output"]).strip()


def service_of(desktop: Service) -> psutil.Process:
    """Return the process of the service below its keeper."""
    for process, line in commands_below(desktop.ready["pid"]).items():
        # The keeper and init have the command of the service as their arguments.
        if "deskhand.desktop" in line and not any("/launch/" in part for part in line):
            return process
    raise AssertionError("the keeper has no service")


def pid_inside(pid: int) -> str:
    """Return the pid that a process has in its own PID namespace."""
    (line,) = re.findall("^NSpid:(.*)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return str(line.split()[-1])


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A desktop with one finished recording."""
    with service(tmp_path_factory.mktemp("paths") / "errors.log", "desktop") as found:
        recording = {"recording_id": str(uuid4())}
        found.post(f"{API}/desktop/recording/start", recording)
        found.act(action="mouse_move", coordinate=[5, 5])
        found.post(f"{API}/desktop/recording/stop", recording)
        first = Target(found, Path(), 0, service_of(found).uids().real, Path())
        folder = Path(first.must_run("pwd")).parent
        agent = int(first.must_run("id -u"))
        (evidence,) = (folder / "recordings").iterdir()
        yield Target(found, folder, agent, first.owner, evidence)


Snapshot = dict[str, tuple[int, bytes]]


def files_below(folder: Path) -> Snapshot:
    """Return inode and content of each file."""
    statuses = statuses_below(folder)
    return {
        str(path): (statuses[path].st_ino, content)
        for path, content in contents_below(folder).items()
        if path in statuses
    }


def recordings(target: Target) -> Snapshot:
    """Return the files of recordings."""
    return files_below(target.folder / "recordings")


def logs(target: Target) -> Snapshot:
    """Return the logs; the service only appends to them."""
    return files_below(target.folder / "logs")


@contextmanager
def unchanged(target: Target) -> Iterator[None]:
    """Fail if anything below recordings changed, or anything but the end of a log."""
    kept, written = recordings(target), logs(target)
    assert kept
    assert written
    try:
        yield
    finally:
        found, now = recordings(target), logs(target)
        # The next test needs the recording as it was.
        for path in set(found) - set(kept):
            Path(path).unlink()
        for path, (_, content) in kept.items():
            Path(path).write_bytes(content)
    assert found == kept
    assert set(now) >= set(written)
    for path, (inode, content) in written.items():
        assert now[path][0] == inode, path
        assert now[path][1].startswith(content), path


PROGRAMS = {
    "filter": (
        "git config filter.evil.clean '{evil}; cat' && echo '* filter=evil' > .gitattributes",
        True,
    ),
    "hook": (
        "mkdir -p hooks && printf '#!/bin/sh\\n{evil}\\n' > hooks/post-index-change"
        " && chmod +x hooks/* && git config core.hooksPath $PWD/hooks",
        True,
    ),
    "textconv": (
        "git config diff.evil.textconv '{evil}; cat' && echo '* diff=evil' > .gitattributes",
        False,
    ),
    "external diff": (
        "git config diff.evil.command '{evil}' && echo '* diff=evil' > .gitattributes",
        False,
    ),
    "fsmonitor": ("git config core.fsmonitor '{evil}; false'", False),
}
"""Commands that make a repository run a program, and if reading the repository has to run it."""


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_repositorys_programs_run_as_the_agent(target: Target, kind: str) -> None:
    prepare, runs = PROGRAMS[kind]
    name = f"repository-{uuid4().hex[:8]}"
    who = target.folder / "tmp" / name
    target.must_run(
        f"mkdir {name} && cd {name} && git init -q . && echo one > file && git add file"
        " && git -c user.name=a -c user.email=a@b commit -qm one && echo two > file && "
        + prepare.format(evil=f"id -u >> {who}")
    )
    folder = target.folder / "work" / name
    with unchanged(target):
        assert "+three" in changes_of(target, folder)
        found = target.desktop.post(f"{API}/search", {"path": str(folder), "pattern": "three"})
        assert found["matches"]
    users = set(target.must_run(f"cat {who} 2>/dev/null; true").split())
    assert users == {str(target.agent)} or not (users or runs)
    assert target.agent != target.owner


def changes_of(target: Target, folder: Path) -> str:
    """Have the service read a repository, as it does for a page; return the diff."""
    chat = written(target, folder / "three", "three\n")
    with watching(target, chat) as socket:
        while True:
            for found in json.loads(socket.recv(PATIENCE)).get("repositories", ()):
                if found["repo_root"] == str(folder):
                    return str(found["unified_diff"])


def written(target: Target, path: Path, content: str) -> str:
    """Write a file for a new chat, which works in its repository from now on; return the chat."""
    chat = str(uuid4())
    answer = target.desktop.http.post(
        f"{API}/write-file",
        params={"path": str(path)},
        content=content,
        headers={"Deskhand-Chat-Id": chat},
    )
    assert answer.is_success, answer.text
    return chat


def watching(target: Target, chat: str) -> ClientConnection:
    """Watch the repositories of a chat."""
    token = {"Authorization": f"Bearer {target.desktop.token}"}
    address = target.desktop.url.replace("http://", "ws://")
    url = f"{address}{API}/git/watch?chat_id={chat}"
    return connect(url, additional_headers=token, open_timeout=PATIENCE)


Route = Callable[[Target, str], httpx2.Response]


def read(target: Target, path: str) -> httpx2.Response:
    return target.desktop.http.get(f"{API}/read-file", params={"path": path})


def read_lines(target: Target, path: str) -> httpx2.Response:
    found = target.desktop.http.get(f"{API}/read-file-lines", params={"path": path})
    # This route reports errors in the body.
    return found if found.json().get("success") else httpx2.Response(400, text=found.text)


def list_directory(target: Target, path: str) -> httpx2.Response:
    return target.desktop.http.post(f"{API}/list-directory", params={"path": path})


def search(target: Target, path: str) -> httpx2.Response:
    body = {"path": path, "pattern": "", "glob": "*"}
    found = target.desktop.http.post(f"{API}/search", json=body)
    nothing = found.is_success and not found.json()["matches"]
    return httpx2.Response(404, text=found.text) if nothing else found


def watch(target: Target, path: str) -> httpx2.Response:
    with target.desktop.http.stream("GET", f"{API}/watch", params={"path": path}) as found:
        return httpx2.Response(found.status_code, text=next(found.iter_text()))


def write(target: Target, path: str) -> httpx2.Response:
    return target.desktop.http.post(f"{API}/write-file", params={"path": path}, content="evil")


def append(target: Target, path: str) -> httpx2.Response:
    return target.desktop.http.post(f"{API}/append-file", params={"path": path}, content="evil")


def status(target: Target, path: str) -> httpx2.Response:
    return target.desktop.http.get(f"{API}/file-status", params={"path": path})


def edit(target: Target, path: str) -> httpx2.Response:
    # The lines of a log and of a recording's metadata begin with a brace.
    edits = [{"old_text": "{", "new_text": "{ ", "replace_all": True}]
    body = {"files": [{"path": path, "edits": edits}]}
    return target.desktop.http.post(f"{API}/edit-files", json=body)


def copy_output(target: Target, path: str) -> httpx2.Response:
    body = {"command": "echo evil", "output_path": path}
    found = target.desktop.http.post(f"{API}/processes/start", json=body)
    if found.is_success:
        target.desktop.get(f"{API}/processes/{found.json()['id']}/output?wait=true")
    return found


def attach(target: Target, path: str) -> httpx2.Response:
    # `attach_file` of the control plane downloads by this route.
    return target.desktop.http.get(f"{API}/read-file", params={"path": path, "offset": "1"})


OF_FILES: dict[str, Route] = {
    route.__name__: route
    for route in (read, read_lines, status, write, append, edit, copy_output, attach)
}
OF_FOLDERS: dict[str, Route] = {route.__name__: route for route in (list_directory, search, watch)}

WAYS = {
    "link": "{folder}/work/way",
    "link to a link": "{folder}/work/way",
    "linked folder": "{folder}/work/way/{name}",
    "own root": "/proc/self/root{file}",
    "thread's root": "/proc/thread-self/root{file}",
    "service's root": "/proc/{service}/root{file}",
}
"""Paths that lead to a file of the service."""

LINKS = {
    "link": "ln -sfn {file} {folder}/work/way",
    "link to a link": "ln -sfn {file} {folder}/tmp/more && ln -sfn ../tmp/more {folder}/work/way",
    "linked folder": "ln -sfn {parent} {folder}/work/way",
}


def led(target: Target, way: str, file: Path) -> str:
    """Make a way to a file of the service, as the agent; return its path."""
    facts = {
        "folder": str(target.folder),
        "file": str(file),
        "parent": str(file.parent),
        "name": file.name,
        "service": pid_inside(service_of(target.desktop).pid),
    }
    target.must_run("rm -rf way; rm -f ../tmp/more; true")
    if way in LINKS:
        target.must_run(LINKS[way].format(**facts))
    return WAYS[way].format(**facts)


@pytest.mark.parametrize("route", OF_FILES)
def test_no_way_leads_to_a_file_of_the_service(target: Target, route: str) -> None:
    metadata = next(target.evidence.glob("*.json"))
    reached = {}
    with unchanged(target):
        for way in WAYS:
            answer = OF_FILES[route](target, led(target, way, metadata))
            if answer.is_success:
                reached[way] = answer.text[:100]
        assert reached == {}


@pytest.mark.parametrize("route", OF_FOLDERS)
def test_no_way_leads_to_a_folder_of_the_service(target: Target, route: str) -> None:
    reached = {}
    for way in ("link", "own root", "service's root"):
        answer = OF_FOLDERS[route](target, led(target, way, target.evidence))
        if answer.is_success:
            reached[way] = answer.text[:100]
    assert reached == {}


@pytest.mark.parametrize("route", [*OF_FILES, *OF_FOLDERS])
def test_control_the_same_routes_reach_the_agents_own_files(target: Target, route: str) -> None:
    # Only the agent's user may use these, so another user would fail.
    own = target.folder / "work" / "own"
    target.must_run("rm -rf own && mkdir -m 700 own && echo '{ own' > own/file && chmod 600 own/*")
    target.must_run("ln -sfn own/file way")
    if route in OF_FOLDERS:
        assert OF_FOLDERS[route](target, str(own)).is_success
        return
    for path in (own / "file", target.folder / "work" / "way"):
        answer = OF_FILES[route](target, str(path))
        assert answer.is_success, answer.text


@pytest.mark.parametrize("route", ["write", "copy_output", "edit"])
def test_files_that_the_service_makes_belong_to_the_agent(target: Target, route: str) -> None:
    path = target.folder / "work" / f"made-{route}"
    if route == "edit":
        target.must_run(f"echo '{{' > {path}")
    assert OF_FILES[route](target, str(path)).is_success
    owner = target.must_run(f"stat -c %u {path}")
    assert owner == str(target.agent) != str(target.owner)


def test_a_path_of_proc_is_opened_by_a_process_of_the_agent(target: Target) -> None:
    found = target.desktop.get(f"{API}/read-file-lines?path=/proc/self/status&max_file_size=100000")
    (users,) = (line for line in found["content"].splitlines() if "\tUid:" in line)
    assert set(users.split()[2:]) == {str(target.agent)}
    assert target.agent != target.owner


def test_no_hard_link_to_a_file_of_the_service_can_be_made(target: Target) -> None:
    target.must_run("rm -f hard")
    for file in (next(target.evidence.glob("*.json")), next((target.folder / "logs").iterdir())):
        with unchanged(target):
            linked = target.run(f"ln {file} hard && echo evil >> hard; rm -f hard")
            assert linked["output"].startswith("ln: failed"), linked
    # Control: the agent can make hard links to its own files.
    target.must_run("rm -f hard mine; echo mine > mine && ln mine hard && rm hard")


@pytest.mark.parametrize("route", [*OF_FILES, *OF_FOLDERS])
def test_a_fifo_blocks_no_route(target: Target, route: str) -> None:
    fifo = target.folder / "work" / f"fifo-{route}"
    target.must_run(f"mkfifo {fifo}")
    with unchanged(target):
        # More requests than the service has threads.
        for _ in range(12):
            (OF_FILES | OF_FOLDERS)[route](target, str(fifo))
    target.must_run(f"rm -f {fifo}")


def test_a_fifo_in_the_place_of_a_repository_blocks_no_scan(target: Target) -> None:
    with ExitStack() as stack:
        # More scans than the service makes at a time.
        for number in range(3):
            folder = target.folder / "work" / f"pipe-{number}"
            target.must_run(f"mkdir {folder} && mkfifo {folder}/.git")
            stack.callback(unblocked, folder / ".git")
            chat = written(target, folder / "file", "")
            stack.enter_context(watching(target, chat))
        good = target.folder / "work" / "good"
        target.must_run(f"git init -q {good}")
        assert "+three" in changes_of(target, good)


def unblocked(fifo: Path) -> None:
    """Open a FIFO for writing, so that a blocked reader goes on."""
    with suppress(OSError):
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
