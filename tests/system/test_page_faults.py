"""Pages of a real Chromium survive what goes wrong behind them."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from websockets.sync.client import connect

from tests.system.browsing import plain_page
from tests.system.services import PATIENCE, Service, service, service_pid
from tests.system.small_disk import filled, small_disk
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]

AN_HOUR = 3_600_000
"""Milliseconds."""
OTHER_CLOCK = "{ const now = Date.now.bind(Date); Date.now = () => now() + (%d); }"
VIEWERS = 500
ENOUGH_FOR_A_DATABASE = 8
"""Mebibytes."""


@contextmanager
def stopped(process: int) -> Iterator[None]:
    """A process that answers nothing until the block ends; its connections stay open."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


@contextmanager
def signed_in(browser: Browser, plane: Service, path: str) -> Iterator[Page]:
    with plain_page(browser) as page:
        sign_in(plane, page, path)
        yield page


@pytest.fixture(scope="module")
def run(fresh_plane: Service) -> str:
    """A run that has ended, with its recording."""
    return fresh_plane.recorded_run()


def task_box(page: Page) -> Locator:
    """The box for a task, when the modules of its page are loaded."""
    expect(page.locator("#model strong")).to_be_visible()
    return page.get_by_label("Task", exact=True)


def heading(page: Page, text: str) -> None:
    expect(page.locator("main:visible h1")).to_have_text(text)


@pytest.mark.slow("a desktop")
@pytest.mark.parametrize("wrong", [pytest.param(AN_HOUR, marks=pytest.mark.full), -AN_HOUR])
def test_times_are_right_where_the_clock_of_the_browser_is_not(
    fresh_plane: Service, browser: Browser, wrong: int
) -> None:
    desktop = fresh_plane.post("/api/v0/desktops", {"name": f"made now, {wrong}"})["id"]
    with plain_page(browser) as page:
        page.add_init_script(OTHER_CLOCK % wrong)
        sign_in(fresh_plane, page)
        card = page.locator("#desktops li").filter(has_text=f"made now, {wrong}")
        expect(card.get_by_text("started just now")).to_be_visible()
    assert fresh_plane.http.delete(f"/api/v0/desktops/{desktop}").is_success


@pytest.mark.slow("a task")
def test_a_task_that_is_sent_while_nothing_answers_starts_once_afterwards(
    browser: Browser, tmp_path: Path
) -> None:
    command = ("up", "--data-dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0")
    with (
        service(tmp_path / "errors.log", *command) as plane,
        signed_in(browser, plane, "/") as page,
    ):
        box = task_box(page)
        with stopped(plane.process.pid):
            box.fill("say hello, asked while nothing answered")
            box.press("Control+Enter")
            expect(page.locator("#task-words")).to_have_text("Starting …")
        expect(page.locator("#task-words a")).to_be_visible()
        plane.post("/api/v0/chats", {"title": "later", "prompt": "say hello"})
        # The page follows again without a reload.
        expect(page.locator("#runs").get_by_text("later")).to_be_visible()
        titles = [chat["title"] for chat in plane.get("/api/v0/chats")["chats"]]
        assert len([title for title in titles if title.startswith("say hello, asked")]) == 1


@pytest.mark.slow("a task on a small disk")
def test_a_start_on_a_full_disk_is_refused_in_words_and_works_when_there_is_room(
    browser: Browser, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", ENOUGH_FOR_A_DATABASE) as disk:
        command = ("up", "--data-dir", str(disk), "--listen", "127.0.0.1:0")
        with (
            service(tmp_path / "errors.log", *command) as plane,
            signed_in(browser, plane, "/") as page,
        ):
            box = task_box(page)
            with filled(disk):
                box.fill("say hello")
                box.press("Control+Enter")
                expect(page.locator("#task-words")).to_contain_text("disk")
                # Nothing that was written is lost.
                expect(box).to_have_value("say hello")
            box.press("Control+Enter")
            expect(page.locator("#task-words a")).to_be_visible()


@pytest.mark.slow("a run")
def test_a_recording_that_is_deleted_while_it_plays(
    fresh_plane: Service, browser: Browser, run: str
) -> None:
    recordings = fresh_plane.get(f"/api/v0/runs/{run}")["recordings"]
    with signed_in(browser, fresh_plane, f"/runs/{run}") as page:
        page.wait_for_function("() => document.querySelector('video')?.readyState >= 2")
        page.get_by_role("button", name="Play", exact=True).first.click()
        for one in recordings:
            assert fresh_plane.http.delete(one["url"]).is_success
        expect(page.get_by_text("There is no recording of this run.")).to_be_visible()
        page.get_by_role("tab", name="Steps").click()
        expect(page.locator("#steps button").first).to_be_visible()


@pytest.mark.slow("a run")
def test_a_run_that_is_deleted_while_it_is_watched(fresh_plane: Service, browser: Browser) -> None:
    chat = fresh_plane.recorded_run()
    with signed_in(browser, fresh_plane, f"/runs/{chat}") as page:
        heading(page, "The date")
        assert fresh_plane.http.delete(f"/api/v0/chats/{chat}").is_success
        heading(page, "There is no such run")


@pytest.mark.slow("a desktop")
def test_a_desktop_that_dies_while_a_person_takes_control(
    fresh_plane: Service, browser: Browser
) -> None:
    made = fresh_plane.post("/api/v0/desktops", {"name": "to die"})
    with signed_in(browser, fresh_plane, f"/desktops/{made['id']}") as page:
        page.get_by_role("button", name="Take control").click()
        name = page.get_by_label("Your name")
        if name.is_visible():
            name.fill("Ann")
        # While the name is asked, or control is on its way.
        os.kill(service_pid(made["pid"]), signal.SIGKILL)
        heading(page, "This desktop was lost")
        expect(page.get_by_role("button", name="Give back")).to_be_hidden()


@pytest.mark.slow("a desktop, and 500 sockets")
def test_a_page_is_painted_and_follows_what_happens_beside_500_viewers(
    fresh_plane: Service, browser: Browser
) -> None:
    made = fresh_plane.post("/api/v0/desktops", {"name": "seen by many"})
    live = f"{fresh_plane.url.replace('http', 'ws', 1)}/api/v0/live"
    headers = {"Authorization": f"Bearer {fresh_plane.token}"}
    topics = ("chats", "desktops", f"viewers:{made['id']}", f"shot:{made['id']}?width=320")
    with ExitStack() as stack:
        for _ in range(VIEWERS):
            socket = stack.enter_context(
                connect(live, additional_headers=headers, proxy=None, open_timeout=PATIENCE)
            )
            for topic in topics:
                socket.send(json.dumps({"subscribe": topic}))
        page = stack.enter_context(signed_in(browser, fresh_plane, "/"))
        card = page.locator("#desktops li").filter(has_text="seen by many")
        expect(card.locator("img")).to_be_visible()
        assert fresh_plane.http.delete(f"/api/v0/desktops/{made['id']}").is_success
        expect(card).to_have_count(0)


@pytest.mark.slow("a run")
def test_a_share_link_that_is_revoked_while_it_is_open(
    fresh_plane: Service, browser: Browser, run: str
) -> None:
    link = fresh_plane.post("/api/v0/tokens", {"scopes": [f"run:{run}:view"]})
    with plain_page(browser) as page:
        page.goto(f"{fresh_plane.url}/login?next=/runs/{run}#code={link['token']}")
        page.wait_for_url(f"{fresh_plane.url}/runs/{run}")
        heading(page, "The date")
        assert fresh_plane.http.delete(f"/api/v0/tokens/{link['id']}").is_success
        # The socket ends with the link, and the page asks for a sign-in without a reload.
        expect(page.get_by_label("Code or token")).to_be_visible()


@pytest.mark.slow("a run")
def test_the_socket_of_a_share_link_receives_only_its_run(
    fresh_plane: Service, browser: Browser, run: str
) -> None:
    other = str(fresh_plane.post("/api/v0/chats", {"title": "o", "prompt": "say hello"})["id"])
    link = fresh_plane.post("/api/v0/tokens", {"scopes": [f"run:{run}:view"]})
    with plain_page(browser) as page:
        received: list[str] = []
        page.on(
            "websocket",
            lambda socket: socket.on("framereceived", lambda data: received.append(str(data))),
        )
        page.goto(f"{fresh_plane.url}/login?next=/runs/{run}#code={link['token']}")
        page.wait_for_url(f"{fresh_plane.url}/runs/{run}")
        heading(page, "The date")
        # The page's own socket refuses every other topic that its script may name.
        page.evaluate(ASK_FOR_ALL, [run, other])
        answers = page.evaluate("window.answers")
        assert answers[f"chat:{run}"] == "open"
        assert {answers[name] for name in ("chats", "desktops", f"chat:{other}")} == {"refused"}
        about = [json.loads(text) for text in received if other in text]
        assert {message["kind"] for message in about} == {"refused"}


ASK_FOR_ALL = """async ([own, other]) => {
  const { ticketed } = await import("/viewer/page_key.js");
  const { href } = await ticketed(`ws://${location.host}/api/v0/live`);
  return new Promise((done, failed) => {
    const socket = new WebSocket(href);
    socket.onerror = failed;
    const names = ["chats", "desktops", `chat:${other}`, `chat:${own}`];
    const answers = {};
    socket.onopen = () => names.forEach((name) => socket.send(JSON.stringify({subscribe: name})));
    socket.onmessage = ({data}) => {
      const {topic, kind, message} = JSON.parse(data);
      answers[topic || message] = kind;
      if (Object.keys(answers).length === names.length) {
        window.answers = answers;
        socket.close();
        done();
      }
    };
  });
}"""


@pytest.mark.slow("a control plane of its own")
def test_a_page_that_is_open_says_that_the_service_was_stopped(
    browser: Browser, tmp_path: Path
) -> None:
    command = ("up", "--data-dir", str(tmp_path / "data"), "--listen", "127.0.0.1:0")
    with (
        service(tmp_path / "errors.log", *command) as plane,
        signed_in(browser, plane, "/") as page,
    ):
        task_box(page)
        plane.process.terminate()
        plane.process.wait(PATIENCE)
        line = page.get_by_role("alert").filter(has_text="Deskhand does not answer")
        expect(line).to_be_visible()
        again = line.get_by_role("button", name="Try again now")
        again.click()
        expect(again).to_be_visible()
