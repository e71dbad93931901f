"""A control plane that ends, and what its successor finds."""

import os
import signal
from pathlib import Path

import pytest

from tests.system.services import PATIENCE, Service, descendants_of, service, until

pytestmark = pytest.mark.x11


@pytest.mark.soak
@pytest.mark.slow("two control planes, one after the other")
def test_a_desktop_outlives_a_killed_control_plane_and_is_adopted(tmp_path: Path) -> None:
    arguments = ("up", "--data-dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0")
    with service(tmp_path / "first.log", *arguments) as first:
        made = first.post("/api/v0/desktops", {"name": "the one"})
        path = f"/api/v0/desktops/{made['id']}/desktop"
        before = first.get(path)
        first.process.kill()
        first.process.wait(PATIENCE)
    with service(tmp_path / "second.log", *arguments) as second:
        listed = second.get("/api/v0/desktops")["desktops"]
        assert [(d["id"], d["name"], d["status"]) for d in listed] == [
            (made["id"], "the one", "ready")
        ]
        after = second.get(path)
        assert after["instance_id"] == before["instance_id"]
        assert second.http.get(f"{path}/screenshot").content.startswith(b"\x89PNG")
    until(lambda: not descendants_of(before["instance_id"]), "the adopted desktop's end")


@pytest.mark.soak
@pytest.mark.slow("two control planes, one after the other")
def test_keep_desktops_leaves_the_living_to_the_next_which_sweeps_the_dead(tmp_path: Path) -> None:
    arguments = ("up", "--data-dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0")
    with service(tmp_path / "first.log", *arguments, "--keep-desktops") as first:
        made, dead = (first.post("/api/v0/desktops", {}) for _ in range(2))
        instance = first.get(f"/api/v0/desktops/{dead['id']}/desktop")["instance_id"]
    os.kill(dead["pid"], signal.SIGKILL)
    until(lambda: not descendants_of(instance), "the desktop's end")
    with service(tmp_path / "second.log", *arguments) as second:
        (kept,) = second.get("/api/v0/desktops")["desktops"]
        assert kept["id"] == made["id"]
        second.http.delete(f"/api/v0/desktops/{made['id']}")
        assert second.get("/api/v0/desktops")["desktops"] == []
        # An entry is removed after the lock of its desktop is free, which the sweep waits for.
        entries = tmp_path / "data" / "run" / "desktops"
        until(lambda: not list(entries.iterdir()), "the end of all entries")


@pytest.mark.soak
@pytest.mark.slow("a whole run over two control planes")
def test_a_chat_in_mid_step_goes_on_after_a_kill(tmp_path: Path) -> None:
    arguments = ("up", "--data-dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0")
    with service(tmp_path / "first.log", *arguments) as first:
        spawned = first.tool("spawn_computer_use_agent", prompt="show the date")
        chat = f"/api/v0/chats/{spawned['chat_id']}"
        until(lambda: first.get(chat)["steps"], "its first step")
        first.process.kill()
        first.process.wait(PATIENCE)
    with service(tmp_path / "second.log", *arguments) as second:
        done = second.tool("wait_agent", chat_id=spawned["chat_id"], timeout_seconds=60)
        assert not done.get("timed_out"), done
        assert done["report"]
        assert done["recording_file_id"]


def test_a_second_start_names_the_first(plane: Service, tmp_path: Path) -> None:
    data = plane.errors.with_name("data")
    arguments = ("up", "--data-dir", str(data), "--listen", "127.0.0.1:0")
    with (
        pytest.raises(AssertionError, match=f"in use by deskhand up, process {plane.ready['pid']}"),
        service(tmp_path / "second.log", *arguments),
    ):
        pytest.fail("must not start")
