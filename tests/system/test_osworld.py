"""OSWorld's routes on a real desktop, with HTTP Basic."""

from collections.abc import Iterator
from io import BytesIO

import httpx2
import pytest
from PIL import Image

from tests.system.reporting_page import reporting_page
from tests.system.services import PATIENCE, Service, until
from tests.system.wide_page import GROUPS, names, page

pytestmark = [pytest.mark.x11, pytest.mark.root]

PATH = "/api/v0/desktop/as/osworld"


@pytest.fixture
def osworld(speaking_desktop: Service) -> Service:
    """A desktop that speaks OSWorld's protocol."""
    return speaking_desktop


@pytest.fixture
def http(osworld: Service) -> Iterator[httpx2.Client]:
    """A client as `requests` with `x:TOKEN@HOST`, which sends HTTP Basic."""
    base = f"{osworld.url}{PATH}/"
    with httpx2.Client(base_url=base, auth=("x", osworld.token), timeout=PATIENCE) as found:
        yield found


def test_code_that_python_has_to_run_uses_our_pyautogui(
    osworld: Service, http: httpx2.Client
) -> None:
    code = (
        "import pyautogui; x = 320\npyautogui.moveTo(x, 240); pyautogui.PAUSE = 0\n"
        "print(*pyautogui.position(), *pyautogui.size())\n"
        "try:\n    pyautogui.screenshot()\n"
        "except pyautogui.PyAutoGUIException as error:\n    print(error)\n"
    )
    answer = http.post("execute", json={"command": ["python", "-c", code], "shell": False})
    found = answer.json()
    assert found["error"] == ""
    assert found["output"] == (
        "320 240 1920 1080\n"
        "pyautogui.screenshot is not served here: use the route GET /screenshot\n"
    )
    assert http.get("cursor_position").json() == [320, 240]
    assert osworld.act(action="cursor_position")["native_point"] == [320, 240]


@pytest.mark.parametrize("more", ["", "; x = [1 for _ in ()]"], ids=["read", "run by Python"])
def test_a_point_outside_of_the_screen_is_an_error(http: httpx2.Client, more: str) -> None:
    def execute(code: str) -> str:
        command = ["python", "-c", f"import pyautogui; {code}{more}"]
        answer: dict[str, str] = http.post("execute", json={"command": command}).json()
        return answer["error"]

    refused = "(99999, 5) is outside of the screenshot, which is 1920x1080."
    assert refused in execute("pyautogui.click(99999, 5)")
    assert execute("pyautogui.moveTo(1920, 1080)") == ""
    assert http.get("cursor_position").json() == [1919, 1079]


def test_stdout_is_what_the_program_prints(http: httpx2.Client) -> None:
    platform = {"command": ["python", "-c", "import platform; print(platform.system())"]}
    answer = {"status": "success", "output": "Linux\n", "error": "", "returncode": 0}
    assert http.post("execute", json=platform).json() == answer
    missing = http.post("execute", json={"command": "no-such-program"})
    assert missing.status_code == 500
    assert missing.json()["status"] == "error"
    late = http.post("run_bash_script", json={"script": "sleep 50", "timeout": 0.1})
    assert (late.status_code, late.json()["returncode"]) == (500, -1)
    chrome = http.post("execute", json={"command": "command -v google-chrome", "shell": True})
    assert chrome.json()["output"].endswith("/share/osworld/bin/google-chrome\n")


def test_a_large_output_is_whole(http: httpx2.Client) -> None:
    answer = http.post("setup/execute", json={"command": "seq 1 50000", "shell": True}).json()
    assert answer["output"].split() == [str(number) for number in range(1, 50_001)]


def test_files_are_exchanged(http: httpx2.Client) -> None:
    data = bytes(range(256)) * 5000
    sent = http.post(
        *("setup/upload",), data={"file_path": "~/new/file"}, files={"file_data": ("file", data)}
    )
    assert sent.text == f"File Uploaded: {len(data)} bytes"
    received = http.post("file", data={"file_path": "~/new/file"})
    assert received.content == data
    assert received.headers["content-disposition"] == 'attachment; filename="file"'
    missing = http.post("file", data={"file_path": "/no/such"})
    assert (missing.status_code, missing.json()["error"]) == (404, "File not found")
    tree = http.post("list_directory", json={"path": "~/new"}).json()["directory_tree"]
    assert tree["children"] == [{"type": "file", "name": "file"}]
    private = {"url": "http://127.0.0.1:9/x", "path": "~/x"}
    refused = http.post("setup/download_file", json=private)
    assert refused.status_code == 500
    assert "osworld:lan" in refused.json()["message"]


def colour(http: httpx2.Client) -> tuple[int, ...]:
    with Image.open(BytesIO(http.get("screenshot").content)) as shown:
        pixel = shown.convert("RGB").getpixel((1900, 500))
    assert isinstance(pixel, tuple)
    return pixel


@pytest.mark.parametrize(("kind", "wanted"), [("PNG", (200, 0, 0)), ("JPEG", (0, 0, 254))])
def test_a_picture_is_the_wallpaper(
    http: httpx2.Client, kind: str, wanted: tuple[int, int, int]
) -> None:
    picture = BytesIO()
    Image.new("RGB", (40, 30), wanted).save(picture, kind)
    form = {"file_path": "~/wall"}
    content = picture.getvalue()
    assert http.post("setup/upload", data=form, files={"file_data": content}).is_success
    changed = http.post("setup/change_wallpaper", json={"path": "~/wall"})
    assert changed.text == "Wallpaper changed successfully"
    until(lambda: colour(http) == wanted, "a wallpaper")
    assert http.post("wallpaper").content == content


@pytest.mark.parametrize("content", [b"no picture", b"\x89PNG\r\n\x1a\n" + bytes(50)])
def test_what_is_no_picture_is_not_shown(http: httpx2.Client, content: bytes) -> None:
    form = {"file_path": "~/wrong"}
    assert http.post("setup/upload", data=form, files={"file_data": content}).is_success
    refused = http.post("setup/change_wallpaper", json={"path": "~/wrong"})
    assert (refused.status_code, "is no picture" in refused.text) == (400, True), refused.text
    assert http.post("setup/change_wallpaper", json={"path": "/etc/shadow"}).status_code == 403


def test_one_recording_is_made(http: httpx2.Client) -> None:
    assert http.post("end_recording").status_code == 400
    assert http.post("start_recording").json() == {"status": "success"}
    assert http.post("start_recording").status_code == 400
    assert http.post("end_recording").content[4:8] == b"ftyp"


def test_a_credential_for_control_runs_commands_and_exchanges_files(osworld: Service) -> None:
    instance = osworld.get("/api/v0/desktop")["instance_id"]
    body = {"name": "tester", "scopes": [f"desktop:{instance}:control"]}
    account = ("", osworld.post("/api/v0/tokens", body)["token"])
    with httpx2.Client(base_url=f"{osworld.url}{PATH}/", auth=account) as tester:
        written = tester.post("execute", json={"command": "echo a > ~/of-tester", "shell": True})
        assert written.json()["returncode"] == 0
        assert tester.post("file", data={"file_path": "~/of-tester"}).content == b"a\n"


def test_the_text_of_the_focused_terminal_is_read(osworld: Service, http: httpx2.Client) -> None:
    script = "echo one; echo two; exec sleep 600"
    words = {"command": ["xterm", "-T", "of the test", "-e", "sh", "-c", script]}
    assert http.post("setup/launch", json=words).is_success
    until(lambda: http.get("terminal").json()["output"] == "one\ntwo", "the text")
    assert http.post("setup/close_window", json={"window_name": "of the test"}).is_success


def test_a_viewer_may_only_watch(osworld: Service) -> None:
    instance = osworld.get("/api/v0/desktop")["instance_id"]
    body = {"name": "watcher", "scopes": [f"desktop:{instance}:view"]}
    account = ("", osworld.post("/api/v0/tokens", body)["token"])
    with httpx2.Client(base_url=f"{osworld.url}{PATH}/", auth=account) as viewer:
        assert viewer.get("screenshot").content.startswith(b"\x89PNG")
        assert viewer.post("screen_size").json() == {"width": 1920, "height": 1080}
        assert viewer.get("platform").text == "Linux"
        assert viewer.get("cursor_position").json() == [
            *osworld.get("/api/v0/desktop/pointer")["native_point"]
        ]
        assert viewer.get("terminal").json() == {"output": None, "status": "success"}
        assert viewer.post("execute", json={"command": "true"}).status_code == 403


@pytest.mark.soak
@pytest.mark.browser
@pytest.mark.slow("a browser with many widgets")
@pytest.mark.parametrize("groups", [5, pytest.param(GROUPS, marks=pytest.mark.full)])
def test_a_page_of_many_widgets_is_complete(
    osworld: Service, http: httpx2.Client, groups: int
) -> None:
    wanted = names(groups)
    # A browser that starts after the first request reports its pages.
    http.get("accessibility")
    with reporting_page(page(groups)) as (url, _):
        osworld.post("/api/v0/desktop/open", {"url": url})

        def every_button() -> bool:
            found = http.get("accessibility").json()["AT"]
            return all(f"name={name}" in found for name in wanted)

        until(every_button, "the buttons of the page")

        # A read ends after five seconds, which a busy machine may need for so many widgets.
        def complete_tree() -> str:
            tree = osworld.http.get("/api/v0/desktop/accessibility")
            return tree.text if tree.json()["complete"] else ""

        tree = until(complete_tree, "a complete tree")
    assert all(name in tree for name in wanted)
