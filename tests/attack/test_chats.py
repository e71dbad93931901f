"""The token of a chat against another chat: what its commands see of files, processes, windows.

Both run the same table. The chat that made the objects finds all of them, which is the control: a
table of paths that do not exist would be refused too.
"""

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.system.gated_model import gated_model, painted_report, plane_of
from tests.system.services import PATIENCE, Service, until

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

Json = dict[str, Any]
MARK = "mark4e1d7c"
HIDDEN = "[m]ark4e1d7c"
"""The mark as a pattern, which the attacker's own command line does not match."""


@dataclass(frozen=True)
class Chat:
    """A chat, and the client of the token that was issued for it alone."""

    id: str
    http: httpx2.Client

    def call(self, tool: str, chat_id: str = "", **arguments: Any) -> Json:
        """Call a tool, by default as this chat; return the answer."""
        headers = {"Deskhand-Chat-Id": chat_id or self.id}
        answer = self.http.post(f"/api/v0/tools/{tool}", json=arguments, headers=headers)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    def run(self, command: str, chat_id: str = "") -> str:
        """Run a command; return what it wrote."""
        result = self.call("execute", chat_id, command=command, timeout="20s")["result"]
        return str(result.get("output", ""))


@dataclass(frozen=True)
class Scene:
    """Two chats; ``x`` has made a file, a process and a window."""

    plane: Service
    x: Chat
    y: Chat
    facts: dict[str, str]
    """Where the objects of ``x`` are, by name."""


@contextmanager
def chat_of(plane: Service, title: str) -> Iterator[Chat]:
    chat = plane.post("/api/v0/chats", {"title": title}, status=201)["id"]
    token = plane.post("/api/v0/tokens", {"scopes": [f"chat:{chat}"]}, status=201)["token"]
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=plane.url, headers=headers, timeout=3 * PATIENCE) as http:
        yield Chat(chat, http)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("chats")
    with ExitStack() as stack:
        # Its children wait at their first step: they only lend their ids to callers of tools.
        model = stack.enter_context(gated_model([painted_report()], 0))
        plane = stack.enter_context(plane_of(folder, model, "plane"))
        x, y = (stack.enter_context(chat_of(plane, title)) for title in ("x", "y"))
        yield Scene(plane, x, y, made_by(x))


def made_by(x: Chat) -> dict[str, str]:
    """Let a chat make a file, a process and a window; return where they are."""
    output = x.run(
        f"echo {MARK} > ~/secret-{MARK}; mkdir -p work; echo {MARK} > work/notes;"
        'echo "$HOME|$PWD|$DISPLAY|$XAUTHORITY"'
    )
    home, work, display, xauthority = output.strip().split("|")
    # ``sh`` of Debian has no ``exec -a``.
    sleeping = f"MARKED={MARK} bash -c 'exec -a {MARK} sleep 1000'"
    begun = x.call("execute", command=sleeping, run_in_background=True)
    x.call("execute", command=f"xterm -T window-{MARK} -e sleep 1000", run_in_background=True)
    facts = {
        "home": home,
        "work": work,
        "display": display,
        "xauthority": xauthority,
        "process": begun["result"]["background_process_id"],
    }
    until(lambda: MARK in x.run(TABLE["windows"].format(**facts)), "the window of x")
    return facts


TABLE = {
    "a file": "cat {home}/secret-*",
    "the list of files": "ls {home}",
    "the working directory": "cat {work}/work/notes",
    "files below the desktops": (
        f"find {{home}} {{home}}/.. {{home}}/../.. -name '*{HIDDEN}*' 2>/dev/null"
    ),
    "a process": f"ps -eo args | grep '{HIDDEN}'",
    "its environment": f"cat $(pgrep -f '{HIDDEN}' | sed 's|.*|/proc/&/environ|') | tr '\\0' '\\n'",
    "a signal": f"kill -0 $(pgrep -o -f '^{HIDDEN}') && echo {MARK}",
    "windows": "DISPLAY={display} XAUTHORITY={xauthority} xwininfo -root -tree",
}
"""Commands that write the mark where they reach an object of ``x``."""


@pytest.mark.parametrize("name", TABLE)
def test_a_chat_reaches_no_object_of_another(scene: Scene, name: str) -> None:
    command = TABLE[name].format(**scene.facts)
    assert MARK in scene.x.run(command)
    assert MARK not in scene.y.run(command)


def test_a_chat_does_not_write_to_the_files_of_another(scene: Scene) -> None:
    target = shlex.quote(f"{scene.facts['home']}/secret-{MARK}")
    scene.y.run(f"echo changed > {target}")
    assert scene.x.run(f"cat {target}").strip() == MARK
    scene.y.call("write_file", path=f"{scene.facts['home']}/secret-{MARK}", content="changed")
    assert scene.x.run(f"cat {target}").strip() == MARK


def test_a_chat_neither_lists_nor_reads_nor_ends_the_commands_of_another(scene: Scene) -> None:
    process = scene.facts["process"]
    own = scene.x.call("process_list")["result"]
    assert process in str(own)
    assert process not in str(scene.y.call("process_list"))
    ended = scene.y.call("process_signal", process_id=process, signal="kill")
    assert not ended.get("result", {}).get("success"), ended
    assert MARK in scene.x.run(TABLE["a process"])


def test_an_agent_is_not_put_on_the_desktop_of_another_chat(scene: Scene) -> None:
    desktop = scene.plane.get(f"/api/v0/chats/{scene.x.id}")["desktop_id"]
    spawn = {"type": "computer_use", "prompt": "Look.", "desktop": desktop}
    refused = scene.y.call("spawn_agent", **spawn)
    assert f"no desktop has the id {desktop}" in refused["error"]
    child = scene.x.call("spawn_agent", **spawn)["result"]["chat_id"]
    assert MARK in scene.x.run(TABLE["a file"].format(**scene.facts), child)
    scene.x.call("close_agent", chat_id=child)


@pytest.mark.slow("an agent gets a desktop with a display")
def test_a_child_works_on_the_desktop_of_its_parent_or_on_its_own(scene: Scene) -> None:
    """The token of a chat is valid for its children too."""
    shared = scene.x.call("spawn_agent", type="general", prompt="Wait.")["result"]["chat_id"]
    assert MARK in scene.x.run(TABLE["a file"].format(**scene.facts), shared)
    own = scene.x.call("spawn_agent", type="computer_use", prompt="Wait.")["result"]["chat_id"]
    path = f"/api/v0/chats/{own}"
    until(lambda: scene.plane.get(path)["desktop_id"], "a desktop of its own")
    assert MARK not in scene.x.run(TABLE["a file"].format(**scene.facts), own)
    foreign = scene.y.http.post(
        "/api/v0/tools/execute", json={"command": "id"}, headers={"Deskhand-Chat-Id": own}
    )
    assert foreign.status_code == 403
    for child in (shared, own):
        scene.x.call("close_agent", chat_id=child)


@pytest.mark.slow("an agent gets a desktop with a display")
def test_a_chat_shares_its_working_directory_with_its_children_only(scene: Scene) -> None:
    spawned = scene.x.call("spawn_agent", type="computer_use", prompt="Wait.")["result"]
    child = spawned["chat_id"]
    until(lambda: scene.plane.get(f"/api/v0/chats/{child}")["desktop_id"], "its own desktop")
    place = scene.x.run("pwd").strip()
    assert scene.x.run("pwd", child).strip() == place
    assert scene.x.run("id -un").strip() != scene.x.run("id -un", child).strip()
    # The parent writes, the child edits and removes.
    scene.x.run("mkdir -p plan; echo one > plan/kept; echo two > plan/removed; cat plan/kept")
    scene.x.run("echo changed >> plan/kept; rm plan/removed; echo new > plan/made", child)
    assert scene.x.run("cat plan/kept plan/made; ls plan").split() == (
        ["one", "changed", "new", "kept", "made"]
    )
    # The same by the tools for files, which run in other processes than commands.
    for writer, reader in ((scene.x.id, child), (child, scene.x.id)):
        named = {"path": f"{place}/plan/kept", "content": f"by {writer}"}
        assert "error" not in scene.x.call("write_file", writer, **named)
        assert scene.x.run("cat plan/kept", reader) == f"by {writer}"
    assert scene.x.run("rm -r plan && echo removed").strip() == "removed"
    # Another chat has a directory of its own, and that of the first does not exist there.
    assert scene.y.run("pwd").strip() != place
    assert "No such file or directory" in scene.y.run(f"ls -d {place} 2>&1")
    assert Path(place).name not in scene.y.run(f"ls -a {Path(place).parent} 2>&1")
    scene.x.call("close_agent", chat_id=child)
