"""Programs of an agent ask the service for more than their chat may have."""

import json
import shlex
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from tests.system.services import Json, Service, service, until

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

OWN, OTHER = str(uuid4()), str(uuid4())
SERVER = "https://git.example"
PASSWORD = "correct horse battery"
REPOSITORY = "git init -q -b main r; cd r; git remote add origin https://git.example/r"
MOST_CONNECTIONS = 64
MOVE = json.dumps({"action": "mouse_move", "coordinate": [30, 40]})
FORGED = f"DESKHAND_CHAT_ID={OTHER} CODER_CHAT_ID={OTHER}"

ORPHAN = """
import os, subprocess, sys
if os.fork(): os._exit(0)
while os.getppid() == int(sys.argv[1]): pass
with open(sys.argv[2] + ".part", "w") as file:
    subprocess.run(["deskhand-request", *sys.argv[3:]], stdout=file, stderr=file)
os.rename(sys.argv[2] + ".part", sys.argv[2])
"""
"""A program whose parent ends; its child then sends a request and writes the answer to a file."""

RAW = """
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
try: connection.sendall(eval(sys.argv[2]))
except BrokenPipeError: pass
print(connection.makefile().read())
"""
"""A client of the socket that sends any bytes."""


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("attack") / "errors.log", "desktop") as found:
        yield found


@pytest.fixture(scope="module")
def folder(desktop: Service) -> Path:
    return Path(run(desktop, "dirname $HOME")["output"].strip())


def run(desktop: Service, command: str, chat: str = OWN) -> Json:
    """Run a command of a chat and wait for its end."""
    headers = {"Deskhand-Chat-Id": chat} if chat else {}
    body = {"command": command}
    answer = desktop.http.post("/api/v0/processes/start", json=body, headers=headers)
    path = f"/api/v0/processes/{answer.json()['id']}/output"
    ended = desktop.http.get(path, params={"wait_for": "exit"}, headers=headers).json()
    assert not ended["running"], ended
    found: Json = ended
    return found


def sent(desktop: Service, folder: Path, data: bytes) -> Json:
    """Have a command send these bytes; return the first line of the answer."""
    words = ("python3", "-c", RAW, str(folder / "run" / "agent.sock"), repr(data))
    answer: Json = json.loads(run(desktop, shlex.join(words))["output"].splitlines()[0])
    return answer


def as_orphan(desktop: Service, folder: Path, *words: str) -> str:
    file = folder / "home" / str(uuid4())
    script = shlex.quote(ORPHAN)
    # The shell is the parent that ends, and a new session is no way back into the tree.
    run(desktop, f"setsid python3 -c {script} $$ {file} {shlex.join(words)} & exit 0")
    until(file.exists, "the answer to the orphan")
    return file.read_text()


def test_a_command_does_not_ask_for_credentials_as_another_chat(desktop: Service) -> None:
    desktop.http.put(
        "/api/v0/git/credentials",
        json={"url": SERVER, "username": "me", "password": PASSWORD},
    ).raise_for_status()
    prompt = shlex.quote(f"Password for '{SERVER.replace('//', '//me@')}': ")
    ended = run(desktop, f'{REPOSITORY}; export {FORGED}; "$GIT_ASKPASS" {prompt}')
    # The control: it does answer, with the credential that git gets.
    assert ended["exit_code"] == 0
    marked = desktop.get("/api/v0/git/refs")
    assert OWN in json.dumps(marked)
    assert OTHER not in json.dumps(marked)


def test_a_command_acts_as_its_own_chat_only(desktop: Service) -> None:
    ended = run(desktop, f"{FORGED} deskhand-request input {shlex.quote(MOVE)}")
    assert ended["exit_code"] == 0, ended
    assert desktop.get("/api/v0/desktop/lease")["holder"]["chat_id"] == OWN
    # While the first chat acts, and for a while after, another one is refused.
    ended = run(desktop, f"deskhand-request input {shlex.quote(MOVE)}", OTHER)
    assert (ended["exit_code"], "input: " in ended["output"]) == (126, True)


def test_a_process_that_left_its_tree_belongs_to_no_chat(desktop: Service, folder: Path) -> None:
    assert json.loads(run(desktop, "deskhand-request status")["output"])["chat_id"] == OWN
    assert json.loads(as_orphan(desktop, folder, "status"))["chat_id"] is None
    answer = as_orphan(desktop, folder, "input", MOVE)
    assert answer.startswith("input: The process that asks is no descendant of a running command")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'{"do": "processes"}\n', "unknown_request"),
        (b'{"do": "launch", "name": "sh", "arguments": ["-c", "id"]}\n', "unknown_program"),
        (b'{"do": "launch", "name": "browser", "arguments": ["--no-sandbox"]}\n', "refused_switch"),
        (b"GET /api/v0/desktop/secrets HTTP/1.1\r\n\r\n", "malformed"),
        (b"[1]\n", "malformed"),
        (b"\xff\n", "malformed"),
        (b"[" * 60_000 + b"\n", "malformed"),
        (b"x" * 10_000_000, "too_long"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_everything_else_is_refused(desktop: Service, folder: Path, data: bytes, code: str) -> None:
    if len(data) < 1_000_000:
        answer = sent(desktop, folder, data)
    else:
        script = f"import sys; sys.argv[2] = \"b'x' * {len(data)}\"; " + f"exec({RAW!r})"
        path = folder / "run" / "agent.sock"
        words = shlex.join(("python3", "-c", script, str(path), ""))
        answer = json.loads(run(desktop, words)["output"].splitlines()[0])
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]


def test_idle_connections_keep_no_other_route_busy(desktop: Service, folder: Path) -> None:
    path = str(folder / "run" / "agent.sock")
    with ExitStack() as opened:
        for _ in range(MOST_CONNECTIONS):
            client = opened.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(path)
        with socket.socket(socket.AF_UNIX) as one_more:
            one_more.connect(path)
            with one_more.makefile("rb") as lines:
                assert json.loads(lines.readline())["error"]["code"] == "busy"
        desktop.get("/api/v0/desktop")
    until(lambda: run(desktop, "deskhand-request status")["exit_code"] == 0, "a free connection")


def test_other_users_do_not_reach_the_socket(desktop: Service, folder: Path) -> None:
    path = folder / "run" / "agent.sock"
    script = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    command = ("/usr/bin/python3", "-c", script, str(path))
    # The control: root may connect.
    assert subprocess.run(command, check=False).returncode == 0
    refused = subprocess.run(
        command, check=False, user=65534, group=65534, extra_groups=(), capture_output=True
    )
    assert b"PermissionError" in refused.stderr
    assert path.stat().st_mode & 0o777 == 0o660
