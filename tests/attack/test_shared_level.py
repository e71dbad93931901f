"""At level shared an agent has the user of its control plane, and reads none of its variables."""

import os
import shlex
from collections.abc import Iterator

import pytest

from tests.attack.relocated import Installation, installation, user
from tests.system.services import service

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

SECRET = "sk-of-the-operator"
# None of these chooses a model.
VARIABLES = ("DESKHAND_OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "DESKHAND_NOTIFY_SECRET")
READ = f"""
import os, sys
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{{pid}}/environ", "rb") as file:
            if b"{SECRET[:5]}" b"{SECRET[5:]}" in file.read():
                print("found", pid, open(f"/proc/{{pid}}/cmdline").read().replace(chr(0), " "))
    except OSError:
        pass
try:
    os.listdir(f"/proc/{{sys.argv[1]}}/fd")
    print("descriptors")
except OSError as error:
    print(type(error).__name__)
try:
    open(f"/proc/{{sys.argv[1]}}/mem", "rb").close()
    print("memory")
except OSError as error:
    print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def installed() -> Iterator[Installation]:
    with installation() as found:
        yield found


@pytest.mark.slow("a control plane and a desktop of another user")
def test_no_process_shows_the_variables_of_the_control_plane(installed: Installation) -> None:
    installed.own()
    account = user()
    run = installed.folder / "run"
    run.mkdir(mode=0o700)
    os.chown(run, account.pw_uid, account.pw_gid)
    program = (
        *("setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"),
        *installed.program,
    )
    environment = {
        **dict.fromkeys(VARIABLES, SECRET),
        # The agent sees all processes of the machine, as in a container.
        "DESKHAND_NAMESPACES": "off",
        "DESKHAND_RUN_DIR": str(run),
        "HOME": str(installed.folder),
    }
    up = ("up", "--data-dir", str(installed.data), "--listen", "127.0.0.1:0")
    log = installed.folder / "errors.log"
    with service(log, *up, environment=environment, program=program) as plane:
        desktop = f"/api/v0/desktops/{plane.post('/api/v0/desktops', {})['id']}"
        pid = plane.ready["pid"]

        def read() -> str:
            command = f"python3 -c {shlex.quote(READ)} {pid}"
            started = plane.post(f"{desktop}/processes/start", {"command": command})["id"]
            path = f"{desktop}/processes/{started}/output?wait=true"
            return str(plane.get(path)["output"])

        assert read().splitlines() == ["PermissionError", "PermissionError"]
        # A run has a model, a working directory and a recording.
        plane.recorded_run()
        assert read().splitlines() == ["PermissionError", "PermissionError"]
    assert SECRET not in log.read_text()
