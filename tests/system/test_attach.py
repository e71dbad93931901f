"""A desktop over a screen that exists already."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.clipboard.clipboard import X11Clipboard
from deskhand.desktop.x11.connection import await_window_manager, connect
from deskhand.desktop.x11.selection import Content
from tests.system.event_stream import event_stream, next_of
from tests.system.services import DESKHAND, PATIENCE, Json, Service, client, service, until

pytestmark = pytest.mark.x11

ASCII = "".join(map(chr, range(0x21, 0x7F)))


@contextmanager
def screen(program: str, *arguments: str) -> Iterator[str]:
    """Run an X server that no service started; yield its display name."""
    reading, writing = os.pipe()
    command = [program, "-displayfd", str(writing), *arguments]
    with subprocess.Popen(command, pass_fds=(writing,), stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        try:
            with os.fdopen(reading) as output:
                yield f":{output.readline().strip()}"
        finally:
            server.terminate()
            server.wait(PATIENCE)


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    with screen("Xvfb", "-screen", "0", "1280x800x24", "-extension", "GLX") as name:
        yield name


@pytest.fixture(scope="module")
def attached(display: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    errors = tmp_path_factory.mktemp("attach") / "errors.log"
    nowhere = {"DBUS_SESSION_BUS_ADDRESS": ""}
    arguments = ("desktop", "--attach", display, "--speak", "osworld")
    with service(errors, *arguments, environment=nowhere) as found:
        yield found


def test_without_a_keeper_the_process_to_signal_is_the_service(
    display: str, tmp_path: Path
) -> None:
    program = (sys.executable, "-m", "deskhand.desktop")
    nowhere = {"DBUS_SESSION_BUS_ADDRESS": ""}
    arguments = ("--attach", display)
    with service(tmp_path / "log", *arguments, environment=nowhere, program=program) as found:
        assert found.ready["pid"] == found.process.pid


def test_an_attached_service_reports_and_shows_its_screen(attached: Service, display: str) -> None:
    status = attached.get("/api/v0/desktop")
    assert status["mode"] == "attach"
    assert attached.get("/api/v0/context-config?parts=false")["lasting_dirs"] is None
    assert status["display"] == display
    assert {entry["state"] for entry in status["protections"]} == {"none"}
    assert status["size"] == {"width": 1280, "height": 800}
    taken = attached.http.get("/api/v0/desktop/screenshot")
    assert taken.content.startswith(b"\x89PNG")


def test_the_mouse_is_that_of_the_screen(attached: Service, display: str) -> None:
    done = attached.act(action="left_click", coordinate=[0, 0], coordinate_space="native")
    assert done["native_point"] == [0, 0]
    attached.act(action="mouse_move", coordinate=[700, 300], coordinate_space="native")
    where = subprocess.check_output(
        ["xdotool", "getmouselocation"], env={**os.environ, "DISPLAY": display}, text=True
    )
    assert where.startswith("x:700 y:300 ")
    assert attached.act(action="scroll", coordinate=[5, 5])["output"]


@contextmanager
def terminal(display: str, written: Path) -> Iterator[None]:
    """Run xterm over all of the screen; what is typed there goes into a file."""
    command = f"stty raw -echo; echo ready > {written}.ready; exec cat > {written}"
    with subprocess.Popen(
        # Its program starts when the window is mapped (-wf).
        ["xterm", "-wf", "-geometry", "200x60+0+0", "-e", "sh", "-c", command],
        env={**os.environ, "DISPLAY": display},
    ) as xterm:
        try:
            until(Path(f"{written}.ready").exists, "the terminal")
            yield
        finally:
            xterm.terminate()


def test_ascii_is_typed_exactly_and_the_rest_refused_by_name(
    attached: Service, display: str, tmp_path: Path
) -> None:
    written = tmp_path / "typed"
    with terminal(display, written):
        attached.act(action="mouse_move", coordinate=[300, 300])
        # The terminal draws its cursor anew under the pointer, and does so before it takes a key.
        attached.act(action="type", text="x")
        until(lambda: written.exists() and written.read_bytes() == b"x", "the first key")
        body: Json = {"action": "type", "text": f"{ASCII} né漢"}
        refused = attached.post("/api/v0/desktop/action", body, 400)
        assert "é, 漢" in refused["message"]
        batch: Json = {"actions": [{"action": "key", "text": "a"}, body]}
        attached.post("/api/v0/desktop/actions", batch, 400)
        done = attached.act(action="type", text=f"{ASCII}\n", observe=True)
        assert done["changed_fraction"] == 0.0  # nothing is echoed
        until(lambda: written.exists() and written.read_bytes().endswith(b"\r"), "what was typed")
    assert written.read_bytes() == f"x{ASCII}\r".encode()


def test_it_records_what_happens(attached: Service, display: str) -> None:
    recording_id = "22222222-2222-4222-8222-222222222222"
    attached.post("/api/v0/desktop/recording/start", {"recording_id": recording_id})
    assert attached.get("/api/v0/desktop")["recording_ids"] == [recording_id]
    environment = {**os.environ, "DISPLAY": display}
    subprocess.run(["xsetroot", "-solid", "#ff0000"], env=environment, check=True)
    attached.act(action="mouse_move", coordinate=[9, 9], observe=True)
    stopped = attached.post("/api/v0/desktop/recording/stop", {"recording_id": recording_id})
    assert stopped["bytes"] > 0
    video = attached.http.get(f"/api/v0/desktop/recordings/{recording_id}/video")
    assert video.content[4:8] == b"ftyp"


def test_a_token_to_watch_sees_the_screen_and_touches_nothing(attached: Service) -> None:
    scope = f"desktop:{attached.get('/api/v0/desktop')['instance_id']}:view"
    made = attached.post("/api/v0/tokens", {"scopes": [scope]}, status=201)
    with client({**attached.ready, "token": made["token"]}) as watcher:
        assert watcher.get("/api/v0/desktop/screenshot").status_code == 200
        action = {"action": "mouse_move", "coordinate": [5, 5]}
        assert watcher.post("/api/v0/desktop/action", json=action).status_code == 403


def test_without_a_live_view_the_route_gives_the_reason(attached: Service) -> None:
    answer = attached.http.get("/api/v0/desktop/vnc")
    assert answer.status_code == 409
    assert "no live view" in answer.json()["message"]


def test_without_a_message_bus_there_is_no_accessibility_tree(attached: Service) -> None:
    answer = attached.http.get("/api/v0/desktop/accessibility")
    assert answer.status_code == 501
    assert "message bus" in answer.json()["detail"]


def test_its_clipboard_is_that_of_the_screen(
    attached: Service, display: str, tmp_path: Path
) -> None:
    assert attached.http.put("/api/v0/desktop/clipboard", json={"text": "né漢"}).status_code == 204
    with X11Clipboard(display, tmp_path / "no cookie is needed") as another:
        assert another.get() == Content("text/plain", "né漢".encode())
        another.put(Content("text/plain", b"theirs"))
        assert attached.http.get("/api/v0/desktop/clipboard").text == "theirs"


def test_windows_are_listed_where_a_window_manager_knows_them(
    attached: Service, display: str, tmp_path: Path
) -> None:
    assert attached.get("/api/v0/desktop/windows")["windows"] == []
    with (
        event_stream(attached) as events,
        subprocess.Popen(["openbox"], env={**os.environ, "DISPLAY": display}) as manager,
    ):
        try:
            # A window that is mapped while it starts may escape it.
            assert await_window_manager(display, tmp_path / "no cookie is needed", PATIENCE)
            with terminal(display, tmp_path / "typed"):
                opened = next_of(events, "window_opened")
                (window,) = attached.get("/api/v0/desktop/windows")["windows"]
                assert window["id"] == opened["id"]
            next_of(events, "window_closed")
        finally:
            manager.terminate()


def test_the_holder_of_control_keeps_others_from_acting_and_viewing(attached: Service) -> None:
    taken = attached.post("/api/v0/desktop/lease", {"action": "take", "name": "Ann"})
    assert taken["granted"]
    click: Json = {"action": "left_click", "coordinate": [1, 1]}
    refused = attached.post("/api/v0/desktop/action", click, 409)
    assert refused["code"] == "human_in_control"
    assert attached.http.get("/api/v0/desktop/screenshot").status_code == 409
    attached.post("/api/v0/desktop/lease", {"action": "release", "name": "Ann"})
    assert attached.act(**click)["output"]
    assert attached.get("/api/v0/desktop")["lease"]["holder"]["kind"] == "nobody"


def test_commands_run_in_the_session_of_the_screen(attached: Service, display: str) -> None:
    started = attached.post("/api/v0/processes/start", {"command": "echo $DISPLAY"})
    path = f"/api/v0/processes/{started['id']}/output?wait_for=exit"
    assert attached.get(path)["output"] == f"{display}\n"


def test_a_screen_of_xvnc_is_seen_too_and_left_with_nothing_pressed(tmp_path: Path) -> None:
    options = ("-geometry", "800x600", "-depth", "24", "-SecurityTypes", "None")
    rfb = ("-rfbport", "-1", "-rfbunixpath", str(tmp_path / "rfb"), "-extension", "GLX")
    with screen("Xvnc", *options, *rfb) as name:
        asking: Any = connect(name, tmp_path / "no cookie is needed")
        with service(tmp_path / "errors.log", "desktop", "--attach", name) as attached:
            taken = attached.http.get("/api/v0/desktop/screenshot?coordinate_space=native")
            assert taken.headers["deskhand-picture-size"] == "800x600"
            attached.act(action="key_down", text="shift")
            attached.act(action="left_mouse_down")
            assert any(asking.core.QueryKeymap().reply().keys)
        assert not any(asking.core.QueryKeymap().reply().keys)
        root = asking.get_setup().roots[0].root
        assert not asking.core.QueryPointer(root).reply().mask & 0x1F00
        asking.disconnect()


def test_the_service_reports_and_survives_the_end_of_its_screen(tmp_path: Path) -> None:
    with (
        ExitStack() as server,
        service(
            tmp_path / "errors.log",
            *("desktop", "--attach", server.enter_context(screen("Xvfb", "-extension", "GLX"))),
        ) as attached,
    ):
        assert attached.http.get("/api/v0/desktop/screenshot").status_code == 200
        server.close()
        until(
            lambda: attached.http.get("/api/v0/desktop/screenshot").status_code == 503,
            "the news that the screen is gone",
        )
        click: Json = {"action": "left_click", "coordinate": [1, 1]}
        attached.post("/api/v0/desktop/action", click, 503)
        assert attached.get("/api/v0/desktop")["mode"] == "attach"


def test_a_screen_that_is_not_there_is_one_line() -> None:
    ended = subprocess.run(
        [DESKHAND, "desktop", "--attach", ":98"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 4
    assert ended.stdout == ""
    assert ended.stderr.startswith("deskhand: display :98 is gone")
    assert len(ended.stderr.strip().splitlines()) == 1


def test_programs_of_osworld_act_on_the_screen(attached: Service) -> None:
    code = "import pyautogui; x = 31\npyautogui.moveTo(x, 41)\nprint(*pyautogui.position())"
    body = {"command": ["python", "-c", code]}
    answer = attached.http.post("/api/v0/desktop/as/osworld/execute", json=body).json()
    assert answer["error"] == ""
    assert answer["output"] == "31 41\n"
    assert attached.get("/api/v0/desktop/pointer") == {"native_point": [31, 41]}
