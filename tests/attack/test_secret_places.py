"""Which desktops a secret reaches: their memory is searched for its bytes."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.attack.test_secrets import MASK, SECRETS, VALUE, control_plane, new_chat, run
from tests.live_trees import below
from tests.system.services import Service

pytestmark = [pytest.mark.attack, pytest.mark.root]


def processes(plane: Service, chat: str) -> list[psutil.Process]:
    """Return the keeper of a chat's desktop and everything below it."""
    desktops = plane.get("/api/v0/desktops")["desktops"]
    (keeper,) = [one["pid"] for one in desktops if one["chat_id"] == chat]
    return [psutil.Process(keeper), *below(keeper)]


def memory(pid: int) -> Iterator[bytes]:
    """Yield the writable memory of a process, range by range."""
    with Path(f"/proc/{pid}/mem").open("rb", 0) as file:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            found = re.match("([0-9a-f]+)-([0-9a-f]+) rw", line)
            if found:
                first, end = (int(part, 16) for part in found.groups())
                # A range may be unmapped meanwhile.
                with suppress(OSError):
                    file.seek(first)
                    yield file.read(end - first)


def holders(plane: Service, chat: str) -> list[str]:
    """Return the processes of a chat's desktop whose memory contains the value."""
    found = []
    for process in processes(plane, chat):
        # A process may end while it is searched.
        with suppress(OSError, psutil.Error):
            if any(VALUE.encode() in part for part in memory(process.pid)):
                found.append(process.name())
    return found


@pytest.mark.slow("two desktops")
def test_a_secret_reaches_the_desktop_of_its_chat_alone(tmp_path: Path) -> None:
    with control_plane(tmp_path) as plane:
        owner, other = new_chat(plane, "owner"), new_chat(plane, "other")
        for chat in (owner, other):
            assert "ready" in run(plane, chat, "echo ready")
        secret = {"value": VALUE, "anywhere": True, "chats": [owner]}
        assert plane.http.put(f"{SECRETS}/mail", json=secret).is_success
        # The value is in no argument: the commands print it in two parts.
        command = f"printf %s%s {VALUE[:12]} {VALUE[12:]}"
        assert MASK in run(plane, owner, command)
        assert holders(plane, owner)
        assert "ready" in run(plane, other, "echo ready")
        assert not holders(plane, other)
