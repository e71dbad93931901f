"""Launching and opening, and their events."""

import json
import threading

import httpx2
import pytest

from tests.system.event_stream import event_stream, next_of
from tests.system.services import DESKHAND, PATIENCE, Json, Service, service, until

pytestmark = pytest.mark.x11

DESKTOP = "/api/v0/desktop"


def output(desktop: Service, command: str) -> str:
    started = desktop.post("/api/v0/processes/start", {"command": command})
    found = desktop.get(f"/api/v0/processes/{started['id']}/output?wait=true")["output"]
    return str(found).strip()


def close(desktop: Service, window: Json) -> None:
    def closed() -> bool:
        answer = desktop.http.post(f"{DESKTOP}/windows/{window['id']}/close", json={})
        return answer.status_code == 404 or answer.json()["closed"]

    # A terminal ignores the wish until the program in it runs.
    until(closed, "the end of the window")


def test_an_application_is_launched_by_its_name(desktop: Service) -> None:
    for name in ("terminal", "Terminal"):
        with event_stream(desktop) as events:
            launched = desktop.post(
                f"{DESKTOP}/launch", {"name": name, "args": ["-T", "of my own", "-e", "cat"]}
            )
            opened = next_of(events, "window_opened")
            assert opened["title"] == "of my own"
            listed = desktop.get("/api/v0/processes/list")["processes"]
            (ours,) = (one for one in listed if one["id"] == launched["process_id"])
            assert ours["running"]
            close(desktop, opened)
            next_of(events, "window_closed")


def test_a_program_is_launched_by_its_command(desktop: Service) -> None:
    with event_stream(desktop) as events:
        desktop.post(f"{DESKTOP}/launch", {"command": "xterm -T 'a b'", "args": ["-e", "cat"]})
        opened = next_of(events, "window_opened")
        assert opened["title"] == "a b"
        assert opened["class"] == "XTerm"
        close(desktop, opened)


def test_an_unknown_application_is_a_404_that_lists_the_known(desktop: Service) -> None:
    names = [one["name"] for one in desktop.get(f"{DESKTOP}/applications")["applications"]]
    assert "terminal" in names
    for path, body in (
        ("launch", {"name": "solitaire"}),
        ("launch", {"command": "solitaire --hard"}),
        ("open", {"path": "missing.txt"}),
        ("open", {"path": "/proc/1/root/etc/passwd"}),
    ):
        answer = desktop.http.post(f"{DESKTOP}/{path}", json=body)
        assert answer.status_code == 404, answer.text
        assert answer.json()["detail"]
    refused = desktop.post(f"{DESKTOP}/launch", {"name": "solitaire"}, 404)
    assert refused["message"] == "Unknown application: solitaire"
    assert all(name in refused["detail"] for name in names)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("launch", {}),
        ("launch", {"name": "terminal", "command": "xterm"}),
        ("launch", {"name": ""}),
        ("launch", {"name": 3}),
        ("launch", {"name": "terminal", "args": "-e"}),
        ("launch", {"command": "xterm 'open"}),
        ("launch", {"command": "xterm", "args": ["\0"]}),
        ("launch", {"command": "xterm", "env": {"TERM": "vt100"}}),
        ("open", {}),
        ("open", {"url": "javascript:alert(1)"}),
        ("open", {"url": "no scheme"}),
        ("open", {"url": "https://a", "path": "b"}),
        ("open", {"path": "\0"}),
        ("open", {"url": "https://a", "browser": "lynx"}),
    ],
)
def test_what_makes_no_sense_is_a_400(desktop: Service, path: str, body: Json) -> None:
    desktop.post(f"{DESKTOP}/{path}", body, 400)


def test_a_file_is_opened_in_the_browser(desktop: Service) -> None:
    page = "<title>My page</title><p>hello"
    output(desktop, f"echo '{page}' > ~/page.html")
    with event_stream(desktop) as events:
        desktop.post(f"{DESKTOP}/open", {"path": "~/page.html"})
        opened = next_of(events, "window_opened")
        assert "chrom" in opened["class"].lower()

        def shown() -> bool:
            listed = desktop.get(f"{DESKTOP}/windows")["windows"]
            return any("My page" in window["title"] for window in listed)

        until(shown, "the page's title")
        close(desktop, opened)
        next_of(events, "window_closed")


def test_finished_downloads_are_published(desktop: Service) -> None:
    with event_stream(desktop) as events:
        output(
            desktop,
            "cd ~/Downloads; : > report.pdf; echo part > report.pdf.crdownload;"
            "echo hidden > .hidden; mv report.pdf.crdownload report.pdf; echo whole > other.txt",
        )
        first = next_of(events, "download_finished")
        second = next_of(events, "download_finished")
    assert (first["name"], first["size"]) == ("report.pdf", 5)
    assert (second["name"], second["size"]) == ("other.txt", 6)
    assert second["path"].endswith("/home/Downloads/other.txt")


def test_a_client_that_reconnects_gets_the_events_that_it_missed(desktop: Service) -> None:
    with desktop.http.stream("GET", f"{DESKTOP}/events") as stream:
        output(desktop, "echo x > ~/Downloads/one")
        first, last = download(stream)
    output(desktop, "echo x > ~/Downloads/two")
    headers = {"Last-Event-ID": last}
    with desktop.http.stream("GET", f"{DESKTOP}/events", headers=headers) as stream:
        second, _ = download(stream)
    assert (first, second) == ("one", "two")


def download(stream: httpx2.Response) -> tuple[str, str]:
    """Return name and event id of the next download; windows of another test may still end."""
    last = ""
    for line in stream.iter_lines():
        if line.startswith("id: "):
            last = line.removeprefix("id: ")
        elif line.startswith("data: "):
            event = json.loads(line.removeprefix("data: "))
            if event["kind"] == "download_finished":
                return event["data"]["name"], last
    raise AssertionError("the stream ended")


def test_streams_end_with_the_service(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("ending")
    ended = threading.Event()
    with service(folder / "errors.log", "desktop", program=(DESKHAND,)) as found:

        def listen() -> None:
            with found.http.stream("GET", f"{DESKTOP}/events") as stream:
                for _ in stream.iter_lines():
                    listening_now.set()
            ended.set()

        listening_now = threading.Event()
        thread = threading.Thread(target=listen)
        thread.start()
        assert listening_now.wait(PATIENCE)
        found.process.terminate()
        assert ended.wait(PATIENCE)
        thread.join()
        assert found.process.wait(PATIENCE) == 0
