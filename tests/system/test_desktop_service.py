import io
import json
import os
import re
import signal
import subprocess
from pathlib import Path
from uuid import uuid4

import psutil
import pytest
from PIL import Image
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.system.services import (
    DESKHAND,
    PATIENCE,
    Service,
    descendants_of,
    host_pid,
    service,
    service_pid,
    until,
    x_display,
)

pytestmark = pytest.mark.x11


def test_the_service_prints_its_address_and_shows_a_model_sized_picture(desktop: Service) -> None:
    assert desktop.ready["pid"] == desktop.process.pid
    assert desktop.ready["display"].startswith(":")
    status = desktop.get("/api/v0/desktop")
    assert status["size"] == {"width": 1920, "height": 1080}
    answer = desktop.http.get("/api/v0/desktop/screenshot")
    assert answer.headers["content-type"] == "image/png"
    with Image.open(io.BytesIO(answer.content)) as picture:
        assert (picture.format, picture.size) == ("PNG", (1280, 720))


def test_an_action_is_observed_in_the_same_reply(desktop: Service) -> None:
    started = desktop.post("/api/v0/processes/start", {"command": "xterm", "background": True})
    reply = desktop.act(action="wait", duration=1, observe={"screenshot": True, "settle": {}})
    assert reply["screenshot_width"] == 1280
    assert reply["space"] == {"name": "model", "width": 1280, "height": 720}
    assert started["started"] is True


def test_bad_actions_change_nothing_and_are_refused_with_the_reason(desktop: Service) -> None:
    desktop.act(action="mouse_move", coordinate=[5, 5])
    acted = last_act(desktop)
    for body, text in (
        ({"action": "fly"}, "Unknown action: fly"),
        ({"action": "left_click"}, 'Missing "coordinate" for left_click action.'),
        ({"action": "key"}, 'Missing "text" for key action.'),
        ({"action": "scroll", "coordinate": [1, 1], "scroll_direction": "in"}, "Invalid scroll"),
    ):
        assert text in desktop.post("/api/v0/desktop/action", body, 400)["message"]
    # A body that is taken for UTF-16 or UTF-32, which the service must be able to load still.
    for raw in (b"{", b"\0{", b"{\0", b"\0\0\0{", b"{\0\0\0", b"\xff\xfe{"):
        answer = desktop.http.post(
            "/api/v0/desktop/action", content=raw, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 400
    assert last_act(desktop) == pytest.approx(acted, abs=0.005)


def test_a_service_started_as_root_runs_as_another_user(desktop: Service) -> None:
    if os.geteuid() != 0:
        assert desktop.get("/api/v0/desktop")["level"] == "shared"
        return
    status = desktop.get("/api/v0/desktop")
    assert status["level"] == "user"
    # Without a delegated control group the desktop's user owns none.
    assert status["command_limits"]["by"] == "rlimit"
    assert "cgroup" in status["command_limits"]["reason"]
    assert status["user"].startswith("deskhand-")
    shown = run(
        desktop, "id -un; id -u; cat /etc/shadow; ls /root; grep NoNewPrivs /proc/self/status"
    )
    assert status["user"] in shown
    assert "NoNewPrivs:\t1" in shown
    assert shown.count("Permission denied") == 2


def test_commands_get_a_built_environment(tmp_path: Path) -> None:
    canary = {"ANTHROPIC_API_KEY": "canary-7391", "SOME_SECRET": "canary-7391"}
    chosen = ("--layout", "de(nodeadkeys)", "--timezone", "Asia/Tokyo", "--locale", "xx_XX")
    with service(tmp_path / "errors.log", "desktop", *chosen, environment=canary) as found:
        assert "canary-7391" not in run(found, "env")
        shown = run(found, "env; date +%Z")
        for line in ("TZ=Asia/Tokyo", "JST", "LANG=xx_XX.UTF-8", "LC_CTYPE=C.UTF-8"):
            assert line in shown.splitlines()
        display, cookie = x_display(found)
        query = subprocess.run(
            ["setxkbmap", "-query"],
            env={**os.environ, "DISPLAY": display, "XAUTHORITY": str(cookie)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert query.stdout.split()[-4:] == ["layout:", "de", "variant:", "nodeadkeys"]
        assert "DISPLAY=:" in shown
        instance = found.get("/api/v0/desktop")["instance_id"]
        assert f"DESKHAND_INSTANCE={instance}" in shown


def test_git_in_a_command_gets_the_password_that_the_service_has(
    desktop: Service,
) -> None:
    where = {"url": "https://host.example"}
    given = where | {"username": "me", "password": "a password"}
    assert desktop.http.put("/api/v0/git/credentials", json=given).status_code == 200
    prompts = ("Username for 'https://host.example': ", "Password for 'https://me@host.example': ")
    shown = run(desktop, "; ".join(f'"$GIT_ASKPASS" "{prompt}"' for prompt in prompts))
    assert shown == "me\na password\n"
    assert desktop.get("/api/v0/desktop/secrets")["count"] == 1
    assert desktop.http.delete("/api/v0/git/credentials", params=where).status_code == 204


def test_both_logs_name_the_chat_of_a_command(desktop: Service) -> None:
    chat, parent = str(uuid4()), str(uuid4())
    fields = {"chat_id": chat, "ancestor_chat_ids": [parent], "tool_call_id": "call-7"}
    headers = {
        "Deskhand-Chat-Id": chat,
        "Deskhand-Ancestor-Chat-Ids": json.dumps([parent]),
        "Deskhand-Tool-Call-Id": "call-7",
    }
    where, body = "/api/v0/processes", {"command": "true"}
    begun = desktop.http.post(f"{where}/start", json=body, headers=headers).json()["id"]
    desktop.get(f"{where}/{begun}/output?wait=true")
    logs = Path(desktop.get(f"{where}/{begun}/output")["output_path"]).parents[2] / "logs"
    for name, pattern in (("service", f"{begun} exited"), ("access", "processes/start.*call-7")):
        # Commands of a desktop with separate users cannot read the logs.
        text = (logs / f"{name}.jsonl").read_text()
        (line,) = (line for line in text.splitlines() if re.search(pattern, line))
        entry = json.loads(line)
        assert {key: entry.get(key) for key in fields} == fields


@pytest.mark.slow("a service of its own that ends the hard way")
@pytest.mark.parametrize("whom", ["service", "keeper"])
def test_killed_it_leaves_no_process_behind(tmp_path: Path, whom: str) -> None:
    with service(tmp_path / "errors.log", "desktop") as found:
        instance = found.get("/api/v0/desktop")["instance_id"]
        inside = int(run(found, "env -i setsid sleep 1000 >/dev/null & echo $!"))
        unmarked = psutil.Process(host_pid(found, inside))
        found.post(
            "/api/v0/processes/start",
            {"command": "setsid setsid sleep 1000 & sleep 1000", "background": True},
        )
        until(lambda: sum("sleep" in p for p in descendants_of(instance)) >= 2, "both sleeps")
        keeper = found.process.pid
        os.kill(service_pid(keeper) if whom == "service" else keeper, signal.SIGKILL)
        found.process.wait(PATIENCE)
        until(lambda: not descendants_of(instance), "the end of every descendant")
        # Without a keeper it is known by its user alone, where no other process has that user.
        if whom == "service" or os.geteuid() == 0:
            until(lambda: not unmarked.is_running(), "the end of the one without a mark")
        else:
            unmarked.kill()


def test_sigterm_ends_it_with_status_0_and_nothing_left(tmp_path: Path) -> None:
    with service(tmp_path / "errors.log", "desktop", program=(DESKHAND,)) as found:
        instance = found.get("/api/v0/desktop")["instance_id"]
        entry = Path(
            f"/proc/{service_pid(found.process.pid)}/root/tmp/.X11-unix",
            found.ready["display"].replace(":", "X"),
        )
        before = entry.stat()
        found.process.terminate()
        assert found.process.wait(PATIENCE) == 0
        assert not descendants_of(instance)
        # Another desktop may have taken the number since.
        assert not entry.exists() or entry.stat().st_ctime_ns != before.st_ctime_ns
    assert found.errors.read_text() == ""


@pytest.mark.slow("several services, one after the other")
def test_a_taken_port_and_a_missing_program_are_one_line_and_status_4(desktop: Service) -> None:
    address = desktop.url.removeprefix("http://")
    taken = start_and_fail("desktop", "--listen", address)
    assert "Address already in use" in taken
    assert address in taken
    missing = start_and_fail("desktop", path="/nowhere")
    assert "is not installed; install the package" in missing
    assert "HOST:PORT" in start_and_fail("desktop", "--listen", "here")
    assert "or give --insecure" in start_and_fail("desktop", "--listen", "[::]:0")
    assert "zz: Error loading" in start_and_fail("desktop", "--layout", "zz")


def test_a_wrong_token_is_refused(desktop: Service) -> None:
    for headers in ({"Authorization": "Bearer wrong"}, {"Authorization": ""}):
        assert desktop.http.get("/api/v0/desktop", headers=headers).status_code == 401
    assert desktop.http.get("/healthz", headers={"Authorization": ""}).status_code == 200


def test_it_describes_itself(desktop: Service) -> None:
    paths = desktop.get("/openapi.json")["paths"]
    assert "/api/v0/desktop/action" in paths
    assert "/api/v0/processes/start" in paths
    assert "/api/v0/desktop/recording/start" in paths
    assert "/api/v0/desktop/action" in desktop.http.get("/docs").text


def test_it_is_measured_from_outside(desktop: Service) -> None:
    desktop.act(action="wait", duration=0)
    response = desktop.http.get("/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = response.text.splitlines()
    assert any(line.startswith('deskhand_action_seconds_count{action="wait"}') for line in lines)
    assert "deskhand_display_up 1" in lines
    assert any(line.startswith("process_resident_memory_bytes ") for line in lines)


def run(desktop: Service, command: str) -> str:
    """Run a command on the desktop and return its output."""
    started = desktop.post("/api/v0/processes/start", {"command": command})
    return str(desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true")["output"])


def last_act(desktop: Service) -> float:
    """Return when the desktop was last used, in seconds since its start."""
    status = desktop.get("/api/v0/desktop")
    return float(status["uptime_s"] - status["last_activity_s"])


def start_and_fail(*arguments: str, path: str | None = None) -> str:
    """Start something that cannot start; return its one line of output."""
    environment = {**os.environ, **({"PATH": path} if path else {})}
    ended = subprocess.run(
        [DESKHAND, *arguments, "--json"], capture_output=True, text=True, env=environment,
        timeout=3 * PATIENCE, check=False,
    )  # fmt: skip
    assert ended.returncode == 4, ended
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    return ended.stderr


def test_token_and_display_can_be_others(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("dh_given\n")
    chosen = ("--token-file", str(token), "--xserver", "Xvfb", "--glx")
    with service(tmp_path / "errors.log", "desktop", *chosen) as found:
        assert found.token == "dh_given"
        assert found.get("/api/v0/desktop")["xserver"]["live_view"] is False
        assert "GLX" in run(found, "xdpyinfo -queryExtensions")
        assert found.http.get("/api/v0/desktop/screenshot").content.startswith(b"\x89PNG")
        with pytest.raises(InvalidStatus) as refused:
            connect(
                found.url.replace("http", "ws") + "/api/v0/desktop/vnc",
                additional_headers={"Authorization": f"Bearer {found.token}"},
                proxy=None,
            )
        assert refused.value.response.status_code == 409
        assert b"no live view" in refused.value.response.body
