"""Commands that init starts: whose children they are, and with what they end."""

import os
import signal
from pathlib import Path

import pytest

from tests.system.services import descendants_of, service, service_pid, until

pytestmark = [
    pytest.mark.x11,
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root's desktops have an init"),
]

COMMAND = "echo $PPID; setsid sleep 600 > /dev/null & wait"


@pytest.mark.parametrize("namespaces", ["on", pytest.param("off", marks=pytest.mark.soak)])
def test_a_command_is_a_child_of_init_and_ends_with_a_killed_service(
    namespaces: str, tmp_path: Path
) -> None:
    environment = {"DESKHAND_NAMESPACES": namespaces}
    with service(tmp_path / "x.log", "desktop", environment=environment) as desktop:
        instance = desktop.get("/api/v0/desktop")["instance_id"]
        started = desktop.post("/api/v0/processes/start", {"command": COMMAND})
        output = f"/api/v0/processes/{started['id']}/output"
        until(lambda: desktop.get(output)["output"], "the parent's pid")
        found = service_pid(desktop.ready["pid"])
        parent = Path(f"/proc/{found}/stat").read_text().rpartition(") ")[2].split()[1]
        expected = "1" if namespaces == "on" else parent
        assert str(desktop.get(output)["output"]).split() == [expected]
        assert [line for line in descendants_of(instance) if "sleep 600" in line]
        os.kill(found, signal.SIGKILL)
        until(lambda: not descendants_of(instance), "the end of the desktop")
