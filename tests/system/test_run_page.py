"""A real Chromium on the page of a run: its conversation, with stand-ins for chats behind it."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Route, WebSocketRoute, expect

from deskhand.tools.control_plane import pages
from deskhand.tools.conversation.views import ChatView, Json, MessageView, StepView
from tests.system.browsing import MOSTLY_MAGENTA, BrowserConnection
from tests.system.test_pages_browser import browsing, watched_desktop
from tests.tools.control_plane.fakes import ControlPlaneFixture, control_plane
from tests.tools.control_plane.routes.test_recordings import recorded

pytestmark = [pytest.mark.x11, pytest.mark.browser]

HOSTILE = (
    "<script>document.title = 'taken'</script> <img src=x onerror=\"document.title='taken'\">"
    "[click](javascript:document.title='taken') ![far](https://far.example/a.png) **bold**"
)
PICTURE = "a picture"
NODES = "document.querySelector('#conversation').innerHTML"


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def message(number: int, role: str, *content: Json) -> MessageView:
    return MessageView(number, "c", number, role, content, 1_800_000_000.0 + number)


def result(call: str, words: str) -> Json:
    return {"type": "tool_result", "call_id": call, "is_error": False, "content": [text(words)]}


def called(call: str) -> Json:
    return {"type": "tool_call", "id": call, "name": "execute", "arguments": {"command": "make"}}


def step(call: str, **changes: Any) -> StepView:
    number = int(call)
    usual = StepView(
        *(f"s{call}", "c", number, 1, call, "execute", "Run a command", None, {"command": "make"}),
        *("done", None, 1_800_000_001.0 + number, 1_800_000_001.5 + number, {}, {}, None),
        *(None, None),
    )
    return replace(usual, **changes)


async def a_token(route: Route) -> None:
    await route.fulfill(json={"tokens": []})


async def shown_nodes(page: Page, expected: int) -> str:
    await expect(page.locator("#conversation > *")).to_have_count(expected)
    await expect(page.locator(".streaming")).to_have_count(0)
    found: str = await page.evaluate(NODES)
    return found


def test_a_page_that_was_open_from_the_start_has_the_nodes_of_one_opened_later(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(state="running")
        shown.chats.messages_of[chat.id] = (message(0, "user", text("Do **it**.")),)
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await expect(page.locator("#conversation strong").last).to_have_text("it")
            # A text that is sent before the page follows the chat is in no later event.
            await shown.chats.followed.wait()
            shown.chats.hub.publish("text", chat.id, {"text": "I beg"})
            await expect(page.locator(".streaming")).to_have_text("I beg")
            thought = {"type": "thinking", "data": {"thinking": "Quietly."}}
            shown.chats.messages_of[chat.id] += (
                message(1, "assistant", thought, text("I begin."), called("1"), called("2")),
            )
            shown.chats.steps_of[chat.id] = (step("1", status="running", ended_at=None),)
            shown.chats.hub.publish("message", chat.id)
            await expect(page.locator(".call-card")).to_have_count(2)
            await page.locator(".call-card").first.locator("summary").click()
            await page.locator(".call-card").first.locator("summary").click()
            failed = step("2", status="failed", error="exit code 2")
            shown.chats.steps_of[chat.id] = (step("1"), failed)
            shown.chats.messages_of[chat.id] += (
                message(2, "user", result("1", "built"), result("2", "exit code 2")),
                message(3, "assistant", text("Done.")),
            )
            await shown.chats.activities.add(chat.id, "stop", "Ada")
            shown.chats.known[chat.id] = replace(chat, state="waiting", outcome="done")
            shown.chats.hub.publish("status", chat.id)
            # The message, the stop, the thought, two texts and two cards.
            early = await shown_nodes(page, 7)
            await expect(page.locator(".call-card[open]")).to_have_count(1)
            await expect(page.locator(".call-card[open] .card-error")).to_have_text("exit code 2")
            async with browsing(connection, shown, f"/runs/{chat.id}") as later:
                assert await shown_nodes(later, 7) == early

    connection.play(scenario())


def with_hostile_run(shown: ControlPlaneFixture) -> str:
    chat = shown.chats.add(state="running")
    output = "\n".join(f"\x1b[3{n % 8}mline {n}\x1b[0m {HOSTILE}" for n in range(1100))
    long = f"{HOSTILE}\n\n" * 600
    assert len(output) > 200_000
    assert len(long) > 100_000
    shown.chats.messages_of[chat.id] = (
        message(0, "user", text(HOSTILE)),
        message(1, "assistant", text(long), called("1")),
        message(2, "user", result("1", output)),
    )
    shown.chats.steps_of[chat.id] = (step("1", title=HOSTILE),)
    return chat.id


def test_hostile_and_huge_content_is_harmless(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = with_hostile_run(shown)
        async with browsing(connection, shown, f"/runs/{chat}") as page:
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            await expect(page.locator("#conversation strong").first).to_be_visible()
            await page.get_by_role("button", name="Show all").click()
            await expect(page.locator("#conversation .piece").nth(15)).to_be_attached()
            assert await page.locator("#conversation :is(script, img, iframe, style)").count() == 0
            assert await page.locator("#conversation a[href^=javascript]").count() == 0
            card = page.locator(".call-card")
            await card.locator("summary").click()
            await card.get_by_role("button", name="Details").click()
            box = page.locator("#step-box")
            await expect(box.locator(".output-line .fg1").first).to_be_visible()
            assert page.url.endswith("#step=s1")
            find = box.get_by_label("Find in these lines").last
            await find.fill("line 1099")
            await expect(box.locator("[data-found=this]")).to_contain_text("line 1099")
            # Of 1,100 lines only those in view are elements.
            assert await box.locator(".output-line").count() < 120
            assert "taken" not in await page.title()
            assert not [url for url in asked if "far.example" in url]

    connection.play(scenario())


@pytest.mark.soak
def test_the_step_of_an_address_is_open(connection: BrowserConnection, tmp_path: Path) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(state="running")
        timings = {"act_ms": 100, "settle_ms": 300, "model_ms": 600}
        usage = {"input_tokens": 12, "output_tokens": 3}
        shown.chats.steps_of[chat.id] = (step("1", timings=timings, usage=usage), step("2"))
        async with browsing(connection, shown, f"/runs/{chat.id}#step=s1") as page:
            box = page.locator("#step-box")
            await expect(box.get_by_text("Tokens: input 12, output 3")).to_be_visible()
            await expect(box.locator(".stages-legend")).to_contain_text("settle 300 ms")
            await page.keyboard.press("Tab")
            await box.get_by_role("button", name="Close the step").focus()
            await page.keyboard.press("Escape")
            await expect(box).to_be_hidden()

    connection.play(scenario())


@pytest.mark.soak
def test_a_run_is_stopped_after_its_step_and_begun_again_with_another_task(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(state="running")
        shown.chats.messages_of[chat.id] = (message(0, "user", text("Do it.")),)
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await page.route("**/api/v0/tokens*", a_token)
            await page.reload()
            await page.get_by_role("button", name="Stop after this step").click()
            await expect(page.get_by_role("button", name="Stops after this step")).to_be_disabled()
            stopped = page.get_by_text("browser stopped the agent")
            await expect(stopped.first).to_be_visible()
            await page.get_by_role("tab", name="Steps").click()
            await expect(page.locator("#steps").get_by_text("browser stopped")).to_be_visible()
            await page.get_by_role("button", name="Change and run").click()
            await expect(page.get_by_role("textbox", name="Task")).to_have_value("Do it.")
            await page.get_by_role("textbox", name="Task").fill("Do that.")
            async with page.expect_navigation(url="**/runs/*"):
                await page.get_by_role("button", name="Start this run").click()
        assert shown.chats.activities.asked == [
            ("stop_after_step", chat.id),
            ("run_again", chat.id, "Do that.", "owner"),
        ]

    connection.play(scenario())


def spawning(shown: ControlPlaneFixture, child: ChatView) -> ChatView:
    """Add a run whose call has started another one."""
    parent = shown.chats.add(state="running", children=(child.id,))
    call = called("1") | {"name": "spawn_computer_use_agent", "arguments": {"title": "Find"}}
    shown.chats.messages_of[parent.id] = (
        message(0, "user", text("Do it.")),
        message(1, "assistant", call),
        message(2, "user", result("1", f'{{"chat_id": "{child.id}"}}')),
    )
    shown.chats.steps_of[parent.id] = (step("1", tool="spawn_computer_use_agent"),)
    return parent


@pytest.mark.soak
def test_a_card_shows_the_agent_that_its_call_started(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        made = replace(recorded(shown), title="Find the price", outcome="done")
        child = replace(made, started_at=100.0, ended_at=112.0)
        shown.chats.known[child.id] = child
        parent = spawning(shown, child)
        async with browsing(connection, shown, f"/runs/{parent.id}") as page:
            card = page.locator(".call-card[open] .child")
            await expect(card.get_by_role("link", name="Find the price")).to_be_visible()
            await expect(card.locator(".badge")).to_have_text("Done")
            await expect(card.locator(".child-length")).to_have_text("12 s")
            thumbnail = re.compile(f"/files/{child.thumbnail_file_id}$")
            await expect(card.locator("img")).to_have_attribute("src", thumbnail)
            await card.get_by_role("button", name="Play here").click()
            video = re.compile(f"/recordings/{child.id}/video$")
            await expect(card.locator("video")).to_have_attribute("src", video)

    connection.play(scenario())


@pytest.mark.soak
def test_the_thumbnail_of_a_child_stays_while_its_desktop_changes(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        ended = replace(recorded(shown), title="Find the price", outcome="done")
        child = replace(ended, mode="computer_use", state="running", outcome=None, desktop_id="d1")
        shown.chats.known[child.id] = child
        parent = spawning(shown, child)
        picture = f"shot:d1?width=640\n{PICTURE}".encode()
        unsubscribed = asyncio.Event()

        def live(socket: WebSocketRoute) -> None:
            def receive(data: str | bytes) -> None:
                asked = json.loads(data)
                if asked.get("subscribe", "").startswith("shot:"):
                    socket.send(picture)
                elif asked.get("unsubscribe", "").startswith("shot:"):
                    unsubscribed.set()
                elif "subscribe" in asked:
                    socket.send(json.dumps({"topic": asked["subscribe"], "kind": "open"}))

            socket.on_message(receive)
            sockets.append(socket)

        sockets: list[WebSocketRoute] = []
        async with browsing(connection, shown, f"/runs/{parent.id}") as page:
            await page.route_web_socket(re.compile("/api/v0/live"), live)
            await page.reload()
            image = page.locator(".child img")
            await expect(image).to_have_attribute("src", re.compile("^blob:"))
            shown.chats.known[child.id] = ended
            event = {"topic": f"chat:{child.id}", "kind": "status", "chat_id": child.id}
            sockets[-1].send(json.dumps(event))
            await unsubscribed.wait()
            sockets[-1].send(picture)
            thumbnail = re.compile(f"/files/{child.thumbnail_file_id}$")
            await expect(image).to_have_attribute("src", thumbnail)

    connection.play(scenario())


@pytest.mark.soak
def test_the_live_view_is_on_the_page_and_giving_back_offers_the_box(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(mode="computer_use", state="running", desktop_id="d1")
        async with (
            watched_desktop(shown, chat.id),
            browsing(connection, shown, f"/runs/{chat.id}") as page,
        ):
            await page.route("**/api/v0/tokens*", a_token)
            await page.reload()
            await page.wait_for_function(MOSTLY_MAGENTA)
            await expect(page.get_by_text("Live, you are watching")).to_be_visible()
            await expect(page.get_by_label("Message", exact=True)).to_be_visible()
            # As the viewer marks that this person has control, and has not any more.
            for held in ("true", "false"):
                mark = "(root, held) => { root.dataset.control = held; }"
                await page.locator(".viewer").evaluate(mark, held)
                await page.wait_for_function("() => new Promise(requestAnimationFrame)")
            await expect(page.get_by_label("Message", exact=True)).to_be_focused()
            # The key t presses the button of the live view: the name is asked for.
            await page.locator("h1").click()
            await page.keyboard.press("t")
            await expect(page.get_by_label("Your name")).to_be_visible()
            shown.chats.known[chat.id] = replace(chat, state="waiting", outcome="done")
            shown.chats.hub.publish("status", chat.id)
            await expect(page.locator("#live-screen")).to_be_hidden()

    connection.play(scenario())


ENTER_AND_REFRESH = """async (path) => {
  const { DesktopFiles } = await import(path);
  const answers = [];
  window.fetch = () => new Promise((answer) => answers.push(answer));
  const answer = () => answers.pop()(new Response(JSON.stringify({ contents: [] })));
  const files = new DesktopFiles(document.createElement("section"));
  files.below = "api/v0/desktops/d1";
  files.working = "/home";
  const refreshed = files.refresh();
  // After a turn of the event loop its request is on its way.
  await new Promise((turn) => setTimeout(turn));
  const entered = files.enter("/home/inner");
  answer();
  await entered;
  answer();
  await refreshed;
  return files.folder;
}"""


@pytest.mark.soak
def test_a_person_who_has_entered_a_folder_of_the_desktop_stays_there(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        async with browsing(connection, shown, "/runs") as page:
            script = "/assets/run/panels/desktop_files.js"
            assert await page.evaluate(ENTER_AND_REFRESH, script) == "/home/inner"

    connection.play(scenario())


DRAW_AGAIN = """async (path) => {
  const { StepDetails } = await import(path);
  document.body.innerHTML = `<section id="step-box"><h2 id="step-title" tabindex="-1"></h2>
    <button id="step-close"></button><p id="step-facts"></p><div id="step-body"></div></section>`;
  const details = new StepDetails("r1");
  const facts = { tool: "execute", title: "ls", status: "done", tool_call_id: "c1" };
  const step = { id: "s1", ...facts, arguments: {}, screenshot_file_id: "f1", video_start: 1 };
  details.update([step], false);
  details.open("s1");
  // Drawn after a turn of the event loop.
  await new Promise((turn) => setTimeout(turn));
  document.querySelector("#step-body .step-links a").focus();
  const link = document.activeElement;
  await details.redraw();
  return [link.isConnected, link.textContent, document.activeElement.textContent];
}"""


@pytest.mark.soak
def test_a_step_that_is_drawn_again_keeps_the_focus(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        async with browsing(connection, shown, "/runs") as page:
            script = "/assets/run/conversation/step_details.js"
            remains, before, after = await page.evaluate(DRAW_AGAIN, script)
        assert not remains
        assert before.startswith("Link to this moment")
        assert after == before

    connection.play(scenario())
