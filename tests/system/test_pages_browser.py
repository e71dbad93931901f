"""A real Chromium on the control plane's pages, with stand-ins for chats and files behind them."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import av
import numpy as np
import pytest
from playwright.async_api import Page, Route, expect

from deskhand.desktop.client.http import DesktopClient
from deskhand.tools.control_plane import pages
from deskhand.tools.control_plane.process_user import StaysRoot
from deskhand.tools.control_plane.protections import plane_protections
from deskhand.tools.control_plane.routes.secrets import router as secrets_router
from deskhand.tools.conversation.views import Json, MessageView, StepView
from deskhand.tools.conversation.waiting import waiting_for
from deskhand.tools.run_list.api import router as runs_router
from deskhand.tools.secrets.own import OwnSecrets
from deskhand.tools.secrets.secret import Secret
from deskhand.tools.secrets.store import SecretStore
from deskhand.vncbridge.rfb import proxy as relay
from deskhand.vncbridge.rfb.viewers import Viewers
from tests.system.browsing import MOSTLY_MAGENTA, BrowserConnection, page_of, terminal
from tests.system.services import PATIENCE
from tests.tools.control_plane.fakes import (
    TOKEN,
    ControlPlaneFixture,
    FakeDesktop,
    control_plane,
    local_socket,
    serving,
)
from tests.tools.run_list.fakes import FakeRuns
from tests.vncbridge.fakes import Service, short_folder

pytestmark = [pytest.mark.x11, pytest.mark.browser]

CHAPTERS_LOADED = (
    "() => [...document.querySelector('video').textTracks]"
    ".some((track) => track.kind === 'chapters' && track.cues && track.cues.length === 1)"
)
MASKED_OFTEN = {
    **{"writer": "one", "n": 1, "at": 1.0, "actor": "chat:c1", "action": "secret.masked_often"},
    **{"subject": "pin", "details": {}, "previous": "", "hash": ""},
}
MARKUP = "<b>Look</b> <img src=x onerror=alert(1)>"


@asynccontextmanager
async def browsing(
    connection: BrowserConnection, shown: ControlPlaneFixture, path: str
) -> AsyncIterator[Page]:
    """Sign in with the token, as a person does who has no link, and arrive at the page."""
    bound, address = local_socket()
    async with (
        asyncio.timeout(6 * PATIENCE),
        serving(shown.app, bound),
        page_of(connection.browser, 1200, 900) as page,
    ):
        await page.goto(f"http://{address}{path}")
        await page.get_by_label("Code or token").fill(TOKEN)
        await page.get_by_role("button", name="Sign in").click()
        await page.wait_for_url(f"http://{address}{path}")
        yield page


def step(index: int, video_start: float | None) -> StepView:
    return StepView(
        id=f"step-{index}",
        chat_id="c",
        index=index,
        turn=1,
        tool_call_id=f"call-{index}",
        tool="computer",
        title=f"Click number {index}",
        action="left_click",
        arguments={},
        status="done",
        error=None,
        started_at=100.0 + index,
        ended_at=100.5 + index,
        timings={},
        details={"native_point": [16, 27]},
        screenshot_file_id=None,
        video_start=video_start,
        video_end=None,
    )


def video(folder: Path, seconds: int) -> bytes:
    path = folder / "video.mp4"
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 36, "yuv420p"
        for number in range(seconds * 10):
            grey = np.full((36, 64, 3), number % 256, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        container.mux(stream.encode(None))
    return path.read_bytes()


def test_signing_in_leads_to_the_page_that_was_asked_for(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(title=MARKUP, mode="computer_use", report=MARKUP, outcome="done")
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await expect(page.get_by_role("heading", level=1)).to_have_text(MARKUP)
            await expect(page.locator("#report")).to_have_text(MARKUP)
            changed = "The steps were changed after the end of turn 2."
            await expect(page.locator("#changed")).to_have_text(changed)

    connection.play(scenario())


def test_a_wrong_code_is_reported(connection: BrowserConnection, tmp_path: Path) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        bound, address = local_socket()
        async with (
            asyncio.timeout(6 * PATIENCE),
            serving(shown.app, bound),
            page_of(connection.browser) as page,
        ):
            await page.goto(f"http://{address}/#code=nonsense")
            await page.goto(f"http://{address}/login#code=nonsense")
            await expect(page.get_by_role("status")).to_contain_text("wrong, used or too old")
            assert await page.evaluate("location.hash") == ""

    connection.play(scenario())


def test_the_wall_shows_desktops_and_runs_as_they_come(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        async with browsing(connection, shown, "/") as page:
            await expect(page.get_by_text("Nothing was run yet.")).to_be_visible()
            await expect(page.locator("#model")).to_have_text("Model: scripted:demo")
            await expect(page.get_by_text("ANTHROPIC_API_KEY")).to_be_visible()
            chat = shown.chats.add(title=MARKUP, mode="computer_use", state="running")
            shown.desktops.known["d1"] = FakeDesktop(chat_id=chat.id)
            shown.chats.hub.publish("created", chat.id)
            await expect(page.locator("#runs .card-title")).to_have_text(MARKUP)
            await expect(page.locator("#desktops .card-title")).to_have_text(MARKUP)
            await page.locator("#runs a").click()
            await expect(page.get_by_role("link", name="Watch live")).to_be_hidden()

    connection.play(scenario())


def test_the_wall_names_what_does_not_protect(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        secrets = SecretStore()
        secrets.put(Secret("mail", "correct horse", domains=("mail.example",)))
        secrets.put(Secret("bank", "battery staple", anywhere=True))
        address = "otpauth://totp/mail?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
        secrets.put(Secret("code", address, domains=("mail.example",), kind="totp"))
        domains = ("a.example", "b.example")
        secrets.put(Secret("crm", "staple battery", domains=domains, any_field=True))
        stays = StaysRoot("there is no user deskhand", "useradd deskhand")
        lacking = plane_protections(stays, "root", "")
        routes = [pages.router(), secrets_router(OwnSecrets(secrets))]
        shown = control_plane(tmp_path, pages=routes, protections=lacking)
        warned = "the browser runs without a sandbox: no user namespaces"
        missing = "namespaces: none, because the kernel refuses them"
        shown.desktops.known["d1"] = FakeDesktop(
            id="d1",
            name="First",
            level="user",
            browser_warning=warned,
            missing_protections=(missing,),
        )
        shown.desktops.known["d2"] = FakeDesktop(id="d2", name="Second")
        records = {"records": [MASKED_OFTEN], "next_cursor": None}
        async with browsing(connection, shown, "/") as page:
            await page.route("**/api/v0/audit*", lambda route: route.fulfill(json=records))
            await page.reload()
            lines = page.locator("#secrets li .secret-where")
            await expect(lines).to_have_text(
                [
                    "May be typed anywhere",
                    "mail.example",
                    "a.example, b.example, in any field",
                    "mail.example",
                ]
            )
            names = page.locator("#secrets li strong")
            await expect(names).to_have_text(["bank", "code (one-time code)", "crm", "mail"])
            await expect(lines.first).to_have_class(re.compile("unsafe"))
            await expect(lines.nth(2)).to_have_class(re.compile("unsafe"))
            await expect(lines.last).not_to_have_class(re.compile("unsafe"))
            await expect(page.locator("#notices")).to_contain_text("The secret pin was masked")
            first, second = (
                page.locator("#desktops > *").filter(has_text=name).locator(".card-warning")
                for name in ("First", "Second")
            )
            await expect(first).to_have_text(f"{warned} · {missing}")
            await expect(first).to_be_visible()
            await expect(second).to_be_hidden()
            await expect(page.locator("#unprotected")).to_have_text(
                "control plane user: root, because there is no user deskhand. "
                "Remedy: useradd deskhand."
            )

    connection.play(scenario())


def test_a_person_answers_a_question_and_stops_everything(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        question = {"kind": "human", "question": MARKUP}
        state = "requires_action"
        waiting = waiting_for("question", 1_800_000_000.0)
        chat = shown.chats.add(
            mode="computer_use", state=state, requires_action=question, waiting_for=waiting
        )
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await expect(page.locator("#question")).to_have_text(MARKUP)
            await expect(page.locator("#facts")).to_contain_text(waiting.text)
            await expect(page.locator("#bell")).to_have_attribute("title", "1 agent needs a person")
            await page.get_by_label("Your answer").fill("Go on")
            await page.get_by_role("button", name="Answer").click()
            await expect(page.get_by_label("Your answer")).to_have_value("")
            await page.get_by_role("link", name="Deskhand").click()
            async with page.expect_response("**/api/v0/stop-all") as stopped:
                await page.get_by_role("button", name="Stop everything").click()
            assert (await stopped.value).ok
        assert ("answer", chat.id, "Go on") in shown.chats.asked
        assert ("stop_all",) in shown.chats.asked

    connection.play(scenario())


def test_a_task_that_cannot_start_shows_the_reason(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        async with browsing(connection, shown, "/") as page:
            await page.get_by_label("Task", exact=True).fill("Look around")
            await page.get_by_role("button", name="Start the task").click()
            await expect(page.locator("#task-words")).to_contain_text("Unknown tool")
            await expect(page.get_by_label("Task", exact=True)).to_have_value("Look around")

    connection.play(scenario())


def test_a_step_seeks_the_video_and_is_highlighted(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        file = shown.files.add(
            video(tmp_path, 6),
            kind="recording",
            name="recording.mp4",
            media_type="video/mp4",
            sha256="",
            metadata={
                "video_s": 6.0,
                "steps": [{"title": "Look", "video_start": 0.5, "video_end": 1.0}],
            },
        )
        chat = shown.chats.add(mode="computer_use", outcome="done", recording_file_ids=(file.id,))
        pressed = replace(step(2, 4.5), action="key", arguments={"text": "Return"})
        shown.chats.steps_of[chat.id] = (step(0, 0.5), step(1, 2.5), pressed, step(3, None))
        async with browsing(connection, shown, f"/runs/{chat.id}#t=4.6") as page:
            at = "() => document.querySelector('video').currentTime"
            current = page.locator("[aria-current=step] .step-title")
            await expect(current).to_have_text("Press Return")
            await expect(page.locator("#pressed")).to_have_text("Press Return")
            await page.get_by_role("button", name="Click number 1").click()
            await expect(current).to_have_text("Click number 1")
            await expect(page.locator("#pressed")).to_be_hidden()
            assert await page.evaluate(at) == pytest.approx(2.5, abs=0.05)
            await expect(page.locator("#ring")).to_have_attribute("style", "left: 25%; top: 75%;")
            clip = f"/api/v0/recordings/{chat.id}/clip?from=2.500&to=4.500&download=true"
            await expect(page.get_by_role("link", name="Clip")).to_have_attribute(
                "href", re.compile(re.escape(clip) + "$")
            )
            await page.wait_for_function(CHAPTERS_LOADED)
            await page.get_by_label("Show clicks").uncheck()
            await expect(page.locator("#ring")).to_be_hidden()
            await page.get_by_role("button", name="Next step").click()
            await expect(current).to_have_text("Press Return")
            await expect(page.locator("#pressed")).to_be_hidden()
            await page.get_by_label("Speed").select_option("4")
            assert await page.evaluate("document.querySelector('video').playbackRate") == 4
            await page.evaluate("document.querySelector('video').play()")
            await page.wait_for_function("() => document.querySelector('video')?.ended")
            assert await page.locator("#strip .mark").count() == 3

    connection.play(scenario())


def test_a_shared_link_opens_the_step_that_was_shown(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        recording = shown.files.add(
            video(tmp_path, 6), kind="recording", media_type="video/mp4", metadata={"video_s": 6.0}
        )
        chat = shown.chats.add(mode="computer_use", recording_file_ids=(recording.id,))
        # A tenth of a second is too coarse for the begin of the second step.
        shown.chats.steps_of[chat.id] = (step(0, 0.5), step(1, 2.549), step(2, 4.5))
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await page.route("**/api/v0/tokens*", a_token)
            await page.reload()
            await page.get_by_role("button", name="Click number 1").click()
            current = page.locator("[aria-current=step] .step-title")
            await expect(current).to_have_text("Click number 1")
            await page.get_by_role("button", name="Share").click()
            await page.get_by_role("button", name="Make a link").click()
            link = page.get_by_label("Link", exact=True)
            await expect(link).to_have_value(re.compile("code=dh_1$"))
            (opened,) = parse_qs(urlsplit(await link.input_value()).query)["next"]
            await page.goto(urljoin(page.url, opened))
            await expect(current).to_have_text("Click number 1")

    connection.play(scenario())


def said(position: int, role: str, *content: Json) -> MessageView:
    return MessageView(position, "c", position, role, content, 1.0)


def test_a_step_shows_what_the_agent_wrote_ran_and_received(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    markup = "<img src=x onerror='document.title = 1'>"

    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(mode="computer_use", state="running", outcome=None)
        ran = replace(step(0, None), tool="execute", action=None, arguments={"command": markup})
        shown.chats.steps_of[chat.id] = (ran,)
        call = {"type": "tool_call", "id": "call-0", "name": "execute", "arguments": {}}
        result = {"type": "tool_result", "call_id": "call-0", "is_error": False}
        shown.chats.messages_of[chat.id] = (
            said(0, "user", {"type": "text", "text": "Do it."}),
            said(
                *(1, "assistant"),
                {"type": "thinking", "data": {"type": "thinking", "thinking": "A quiet thought."}},
                {"type": "text", "text": "I read the file."},
                call,
            ),
            said(2, "user", {**result, "content": [{"type": "text", "text": f"Out: {markup}"}]}),
        )
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await page.get_by_role("tab", name="Steps").click()
            await page.locator("#steps button").click()
            box = page.locator("#step-box")
            await expect(box.get_by_text("I read the file.")).to_be_visible()
            await expect(box.get_by_text("A quiet thought.")).to_be_hidden()
            await box.get_by_text("What it thought").click()
            await expect(box.get_by_text("A quiet thought.")).to_be_visible()
            # A change of the step draws its details anew, and what was opened stays open.
            shown.chats.steps_of[chat.id] = (
                replace(ran, arguments={"command": f"{markup} # again"}),
            )
            shown.chats.hub.publish("status", chat.id)
            await expect(box.get_by_label("Arguments of execute")).to_contain_text("# again")
            await expect(box.get_by_text("A quiet thought.")).to_be_visible()
            await expect(box.get_by_label("Result")).to_have_text(f"Out: {markup}")
            await expect(box.get_by_label("Arguments of execute")).to_contain_text("onerror")
            assert await page.title() != "1"
            await box.get_by_role("button", name="Close").click()
            await expect(box).to_be_hidden()

    connection.play(scenario())


def test_a_person_sends_the_agent_a_message(connection: BrowserConnection, tmp_path: Path) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(mode="computer_use", state="running", outcome=None)
        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await page.route("**/api/v0/tokens*", a_token)
            await page.reload()
            box = page.get_by_label("Message", exact=True)
            await box.fill("Use the blue one.")
            await page.get_by_role("button", name="Send", exact=True).click()
            await expect(page.locator("#message-words")).to_have_text("Sent.")
            await expect(box).to_have_value("")
            await box.fill("Stop that.")
            await page.get_by_role("button", name="Interrupt and send").click()
            await expect(box).to_have_value("")
        assert [asked for asked in shown.chats.asked if asked[0] == "send"] == [
            ("send", chat.id, "Use the blue one.", False, "after_step"),
            ("send", chat.id, "Stop that.", True),
        ]

    connection.play(scenario())


@pytest.mark.soak
@pytest.mark.slow("scrolls through ten pages")
def test_the_list_of_runs_is_endless_searched_and_small(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path)
        made = [shown.chats.add(mode="computer_use", title=f"Run {n}.") for n in range(240)]
        made[200] = replace(made[200], outcome="failed")
        runs = FakeRuns(made)
        shown = control_plane(tmp_path, pages=[pages.router(), runs_router(runs)])
        async with browsing(connection, shown, "/runs?outcome=failed") as page:
            cards = page.locator("#list .card-title")
            await expect(cards).to_have_text(["Run 200."])
            await expect(page.get_by_label("Outcome")).to_have_value("failed")
            await page.get_by_label("Outcome").select_option("")
            await expect(cards.first).to_have_text("Run 0.")
            await expect(page).to_have_url(re.compile("/runs$"))
            last = page.get_by_text("Run 239.")
            while not await last.is_visible():
                await page.mouse.wheel(0, 2000)
                await page.wait_for_timeout(20)
            # The pages far above have given their cards up.
            assert await cards.count() < 200
            await page.get_by_label("From").fill("2026-11-22")
            await expect(page).to_have_url(re.compile("/runs[?]since=2026-11-22$"))
            await page.wait_for_function("() => document.querySelector('#list .card-title')")
            assert any(wanted.since is not None for wanted, _ in runs.asked)
            await page.get_by_label("From").fill("")
            await page.get_by_label("Search").fill("Run 239.")
            await expect(cards).to_have_text(["Run 239."])
            await expect(page).to_have_url(re.compile(r"/runs\?q=Run\+239\.$"))
            await page.get_by_label("Search").fill("nothing")
            await page.get_by_role("button", name="Show all runs").click()
            await expect(cards.first).to_have_text("Run 0.")

    connection.play(scenario())


GONE = "There is no such run"
PROBLEMS = [
    ("/nowhere/at/all", "There is no such page", "Go to all desktops and runs"),
    ("/runs/7d3f2c62-0000-4000-8000-000000000000", GONE, "Go to all desktops and runs"),
    ("/desktops/none", "This desktop is gone", "Go to all desktops and runs"),
    ("/desktops/lost", "This desktop was lost", "Go to its run"),
]


def test_what_is_not_there_has_a_page_with_one_way_on(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(mode="computer_use", outcome="done")
        shown.desktops.known["lost"] = FakeDesktop(id="lost", status="lost", chat_id=chat.id)
        async with browsing(connection, shown, "/") as page:
            for path, title, way in PROBLEMS:
                await page.goto(urljoin(page.url, path))
                await expect(page.locator("main:visible h1")).to_have_text(title)
                await expect(page.locator("main:visible").get_by_role("link")).to_have_text(way)
                background = "getComputedStyle(document.querySelector('.as-button')).borderRadius"
                assert await page.evaluate(background) == "8px"
            await page.locator("main:visible").get_by_role("link").click()
            await page.wait_for_url(f"**/runs/{chat.id}")
            del shown.chats.known[chat.id]
            await page.reload()
            await expect(page.locator("main:visible h1")).to_have_text(GONE)

    connection.play(scenario())


def test_a_page_that_a_link_does_not_cover_says_so(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()], scopes=("run:another:view",))
        async with browsing(connection, shown, "/") as page:
            await expect(page.get_by_role("heading")).to_have_text(
                "This sign-in does not permit that"
            )
            await expect(page.locator("main").get_by_role("link")).to_have_attribute(
                "href", re.compile("login$")
            )

    connection.play(scenario())


async def a_token(route: Route) -> None:
    await route.fulfill(json={"id": "t1", "token": "dh_1", "tokens": []})


@asynccontextmanager
async def watched_desktop(shown: ControlPlaneFixture, chat_id: str) -> AsyncIterator[None]:
    """Give a chat the desktop `d1`, whose live view is that of a real X server."""
    with short_folder() as folder, terminal(folder) as server:
        stream = relay.router(relay.UnixUpstream(server.rfb_socket), lambda: False, Viewers())
        shown.desktops.known["d1"] = FakeDesktop(chat_id=chat_id)
        async with Service(stream) as service, DesktopClient(service.url, "token") as client:
            shown.desktops.services["d1"] = client
            yield


def test_the_live_page_shows_the_screen_through_the_pass_through(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(title="Look around", mode="computer_use", state="running")
        shown.chats.messages_of[chat.id] = (said(0, "user", {"type": "text", "text": "Look."}),)
        async with (
            watched_desktop(shown, chat.id),
            browsing(connection, shown, "/desktops/d1") as page,
        ):
            await page.wait_for_function(MOSTLY_MAGENTA)
            # No agent needs a person.
            await expect(page.locator("#bell")).to_be_hidden()
            await expect(page.get_by_role("heading", level=1)).to_have_text("Look around")
            await expect(page.get_by_text("Live, you are watching")).to_be_visible()
            # Beside the picture is what the agent does, and what stops it.
            side = page.get_by_role("complementary", name="What the agent does")
            await expect(side.get_by_text("Look.")).to_be_visible()
            await side.get_by_role("button", name="Stop after this step").click()
            await expect(side.get_by_role("button", name="Stops after this step")).to_be_disabled()
            async with page.expect_response("**/interrupt") as stopped:
                await side.get_by_role("button", name="Stop it").click()
            assert (await stopped.value).ok
            assert ("interrupt", chat.id) in shown.chats.asked
            await page.get_by_role("button", name="What it does").click()
            await expect(side).to_be_hidden()
            # Each person finds it as they left it.
            await page.reload()
            await expect(page.get_by_role("button", name="What it does")).to_be_visible()
            await expect(side).to_be_hidden()

    connection.play(scenario())


def test_a_desktop_whose_agent_has_ended_is_idle_and_is_ended_there(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(title="Done", mode="computer_use", state="running", outcome=None)
        shown.desktops.known["d1"] = FakeDesktop(chat_id=chat.id, has_display=False)
        async with browsing(connection, shown, "/") as page:
            live, idle = page.locator("#desktops"), page.locator("#idle-desktops")
            await expect(live.get_by_text("Live", exact=True)).to_be_visible()
            await expect(page.get_by_text("Idle desktops")).to_be_hidden()
            shown.chats.known[chat.id] = replace(chat, state="waiting", outcome="done")
            shown.chats.hub.publish("status", chat.id)
            await expect(idle.get_by_text("Idle", exact=True)).to_be_visible()
            await expect(live.get_by_role("listitem")).to_have_count(0)
            await idle.get_by_role("button", name="End this desktop").click()
            await expect(page.get_by_text("Idle desktops")).to_be_hidden()
        assert shown.desktops.known == {}

    connection.play(scenario())


def test_a_page_whose_session_has_ended_leads_to_the_sign_in(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        async with browsing(connection, shown, "/") as page:
            await expect(page.get_by_text("Nothing was run yet.")).to_be_visible()
            await page.context.clear_cookies()
            # The socket ends, and the page connects again without its cookie.
            shown.closing.set()
            await expect(page.get_by_label("Code or token")).to_be_visible()

    connection.play(scenario())


def test_a_share_link_covers_the_conversation_only_if_that_is_chosen(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        recording = shown.files.add(kind="recording", media_type="video/mp4")
        chat = shown.chats.add(mode="computer_use", recording_file_ids=(recording.id,))
        links: dict[str, Json] = {}

        async def tokens(route: Route) -> None:
            if route.request.method == "POST":
                body = route.request.post_data_json or {}
                name, ends = f"t{len(links)}", time.time() + body["ttl_s"] + 5
                facts = {"created_at": len(links), "created_by": "Ada", "expires_at": ends}
                links[name] = {"id": name, **facts, **body}
                await route.fulfill(json={**links[name], "token": f"dh_{len(links)}"})
            elif route.request.method == "DELETE":
                del links[route.request.url.rsplit("/", 1)[1]]
                await route.fulfill(status=204)
            else:
                await route.fulfill(json={"tokens": list(links.values())})

        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await page.route("**/api/v0/tokens*", tokens)
            await page.route("**/api/v0/tokens/*", tokens)
            await page.reload()
            await page.get_by_role("button", name="Share").click()
            await expect(page.get_by_text("There are no links.")).to_be_visible()
            make = page.get_by_role("button", name="Make a link")
            await make.click()
            link = page.get_by_label("Link", exact=True)
            await expect(link).to_have_value(re.compile("code=dh_1$"))
            await page.get_by_label("Include the conversation").check()
            await page.get_by_label("Works for").select_option("hour")
            await make.click()
            await expect(link).to_have_value(re.compile("code=dh_2$"))
            await expect(page.get_by_label("Include the live view")).to_be_disabled()
            listed = page.get_by_role("list", name="Links").get_by_role("listitem")
            whole = "Video, steps and report, the conversation and its files"
            await expect(listed).to_have_text(
                [
                    f"{whole}made by Ada, works for 1 hRevoke",
                    "Video, steps and reportmade by Ada, works for 7 dRevoke",
                ]
            )
            assert [one["scopes"] for one in links.values()] == [
                [f"run:{chat.id}:view"],
                [f"run:{chat.id}:conversation"],
            ]
            await listed.first.get_by_role("button", name="Revoke").click()
            await expect(listed).to_have_count(1)
            await expect(link).to_be_hidden()
        assert list(links) == ["t0"]

    connection.play(scenario())


TOKENS_READ = """() => performance.getEntriesByType("resource")
  .filter((each) => each.name.endsWith("/api/v0/tokens")).length >= 3"""
NEXT_TURN = "() => new Promise((done) => setTimeout(done))"


@pytest.mark.soak
def test_a_list_of_links_that_arrives_late_hides_no_new_link(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown = control_plane(tmp_path, pages=[pages.router()])
        chat = shown.chats.add(mode="computer_use", outcome="done")
        link = {"id": "t1", "scopes": [f"run:{chat.id}:view"], "created_at": 1, "created_by": "Ada"}
        made, made_list_shown = asyncio.Event(), asyncio.Event()

        async def tokens(route: Route) -> None:
            if route.request.method == "POST":
                made.set()
                await route.fulfill(json={**link, "token": "dh_1"})
            elif made.is_set():
                await route.fulfill(json={"tokens": [{**link, "expires_at": None}]})
            else:
                await made_list_shown.wait()
                await route.fulfill(json={"tokens": []})

        async with browsing(connection, shown, f"/runs/{chat.id}") as page:
            await page.route("**/api/v0/tokens", tokens)
            await page.get_by_role("button", name="Share").click()
            await page.get_by_role("button", name="Make a link").click()
            listed = page.get_by_role("list", name="Links").get_by_role("listitem")
            await expect(listed).to_have_count(1)
            made_list_shown.set()
            await page.wait_for_function(TOKENS_READ)
            await page.evaluate(NEXT_TURN)
            await expect(listed).to_have_count(1)
            await expect(page.get_by_text("There are no links.")).to_be_hidden()

    connection.play(scenario())
