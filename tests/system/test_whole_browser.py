"""The whole system as a person uses it: real control plane, real desktop, real Chromium."""

import re
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.system.browsing import plain_page
from tests.system.gated_model import gated_model, held_agent_steps, plane_of
from tests.system.services import PATIENCE, Json, Service, sign_in_with, until

pytestmark = [pytest.mark.x11, pytest.mark.browser]

MANY_COLOURS = """() => {
  const canvas = document.querySelector("canvas");
  if (!canvas || !canvas.width || !canvas.height) return false;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 400) seen.add(`${data[i]},${data[i+1]},${data[i+2]}`);
  return seen.size > 5;
}"""
MAGENTA = """() => {
  const canvas = document.querySelector("canvas");
  const { data } = canvas.getContext("2d").getImageData(600, 400, 1, 1);
  return data[0] === 255 && data[1] === 0 && data[2] === 255;
}"""
TERMINAL = "xterm -maximized -bg '#ff00ff' -e sh -c 'cat > $HOME/typed'"


def sign_in(plane: Service, page: Page, path: str = "/") -> None:
    code = plane.post("/api/v0/login/codes", {})["code"]
    page.goto(f"{plane.url}/login?next={path}#code={code}")
    page.wait_for_url(f"{plane.url}{path}")


def test_without_a_session_a_page_is_a_login_form(plane: Service, browser: Browser) -> None:
    with plain_page(browser) as page:
        page.goto(plane.url)
        expect(page.locator("form")).to_be_visible()
        assert "/login" in page.url


@pytest.mark.slow("a desktop, and a person who acts step by step")
def test_a_person_watches_takes_control_and_types_into_a_terminal(
    plane: Service, browser: Browser
) -> None:
    made = plane.post("/api/v0/desktops", {"name": "for a person"})
    base = f"/api/v0/desktops/{made['id']}"

    def typed() -> str:
        started = plane.post(f"{base}/processes/start", {"command": "cat $HOME/typed"})
        shown = plane.get(f"{base}/processes/{started['id']}/output?wait=true")
        return str(shown.get("output", "")).strip()

    with plain_page(browser) as page:
        sign_in(plane, page)
        expect(page.locator("#desktops").get_by_text("for a person")).to_be_visible()
        page.goto(f"{plane.url}/desktops/{made['id']}")
        page.wait_for_function(MANY_COLOURS)
        plane.post(f"{base}/processes/start", {"command": TERMINAL, "background": True})
        page.wait_for_function(MAGENTA)
        page.mouse.click(400, 400)
        page.keyboard.type("before taking control")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Take control").click()
        page.get_by_label("Your name").fill("Ann")
        page.get_by_label("Your name").press("Enter")
        expect(page.get_by_role("button", name="Give back")).to_be_visible()
        page.mouse.click(400, 400)
        page.keyboard.type("hello from a person")
        page.keyboard.press("Enter")
        # In private no command starts, and the terminal, which a command started, is stopped.
        page.get_by_role("button", name="Give back").click()
        expect(page.get_by_role("button", name="Take control")).to_be_visible()
        until(typed, "what was typed")
        assert typed() == "hello from a person"


@pytest.mark.slow("a whole run, held up by a person")
def test_a_person_takes_over_while_an_agent_acts_and_its_chat_is_notified(
    tmp_path: Path, browser: Browser
) -> None:
    with (
        gated_model(held_agent_steps(), 1) as model,
        plane_of(tmp_path, model, "plane") as plane,
        plain_page(browser) as page,
    ):
        sign_in(plane, page)
        chat = plane.tool("spawn_computer_use_agent", prompt="Paint.")["chat_id"]
        path = f"/api/v0/chats/{chat}"
        model.gates[1].wait()
        desktop = plane.get(path)["desktop_id"]
        page.goto(f"{plane.url}/desktops/{desktop}")
        page.get_by_role("button", name="Take control").click()
        page.get_by_label("Your name").fill("Ann")
        page.get_by_label("Your name").press("Enter")
        give_back = page.get_by_role("button", name="Give back")
        expect(give_back).to_be_visible()
        model.gates[1].open()
        until(lambda: at_a_step(plane.get(path)), "its next step")
        check_link_to_run(plane, chat, desktop)
        give_back.click()
        assert plane.tool("wait_agent", chat_id=chat, timeout_seconds=90)["outcome"] == "done"
        assert "Ann was in control of this desktop" in str(plane.get(f"{path}/messages"))


def at_a_step(chat: Json) -> bool:
    return any(step["status"] == "running" for step in chat["steps"])


def check_link_to_run(plane: Service, chat: str, desktop: str) -> None:
    """Open a link to a run: it shows the run and nothing else."""
    link = plane.post("/api/v0/tokens", {"scopes": [f"run:{chat}:view"]}, status=201)
    with httpx2.Client(base_url=plane.url, timeout=PATIENCE) as friend:
        assert sign_in_with(friend, link["token"]).is_success
        assert friend.get(f"/runs/{chat}").status_code == 200
        assert friend.get(f"/api/v0/runs/{chat}").status_code == 200
        assert friend.get(f"/api/v0/desktops/{desktop}/desktop/lease").status_code == 403
        assert friend.get("/api/v0/chats").status_code == 403


@pytest.mark.slow("a whole run, and its video")
def test_a_person_replays_a_run_and_a_step_seeks_the_video(
    plane: Service, browser: Browser
) -> None:
    spawned = plane.tool("spawn_computer_use_agent", prompt="show the date", title="The date")
    done = plane.tool("wait_agent", chat_id=spawned["chat_id"], timeout_seconds=90)
    assert done["recording_file_id"], done
    steps = plane.get(f"/api/v0/chats/{spawned['chat_id']}")["steps"]
    wanted = [step for step in steps if step["video_start"]][-1]
    with plain_page(browser) as page:
        sign_in(plane, page)
        expect(page.locator("#runs").get_by_text("The date").first).to_be_visible()
        page.goto(f"{plane.url}/runs/{spawned['chat_id']}")
        page.wait_for_function("() => document.querySelector('video')?.readyState >= 2")
        page.evaluate("document.querySelector('video').play()")
        page.wait_for_function("() => document.querySelector('video')?.currentTime > 0.2")
        page.evaluate("document.querySelector('video').pause()")
        rows = page.locator("#steps li").filter(has=page.locator(".step-title"))
        rows.nth(steps.index(wanted)).get_by_role("button").click()
        page.wait_for_function(
            "(at) => Math.abs(document.querySelector('video').currentTime - at) < 0.3",
            arg=wanted["video_start"],
        )
        expect(page.locator("#now")).to_contain_text(f"of {len(steps)}: ")
        # The rows show the screen around each step.
        page.wait_for_function(
            "() => document.querySelector('.step-crop:not([hidden]) img')?.naturalWidth > 0"
        )
        page.get_by_role("button", name="Pin").click()
        expect(page.get_by_role("button", name="Pinned")).to_be_visible()
        assert plane.get(f"/api/v0/runs/{spawned['chat_id']}")["recordings"][0]["pinned"]
        page.get_by_role("button", name="Share").click()
        page.get_by_role("button", name="Make a link").click()
        link = page.get_by_label("Link", exact=True)
        expect(link).to_have_value(re.compile("#code=dh_"))
        everywhere = page.context.browser
        assert everywhere is not None
        elsewhere = everywhere.new_context()
        guest = elsewhere.new_page()
        guest.goto(link.input_value())
        guest.wait_for_url(f"{plane.url}/runs/**")
        expect(guest.get_by_text("The date").first).to_be_visible()
        expect(guest.locator("#share")).to_be_hidden()
        expect(guest.get_by_role("link", name="Deskhand")).to_have_count(0)
        page.get_by_role("button", name="Revoke").click()
        expect(page.get_by_text("There are no links.")).to_be_visible()
        again = guest.context.new_page()
        again.goto(f"{plane.url}/runs/{spawned['chat_id']}")
        again.wait_for_url(f"{plane.url}/login**")
        elsewhere.close()


def test_pages_fit_a_phone(plane: Service, browser: Browser) -> None:
    with plain_page(browser, 390, 844) as page:
        sign_in(plane, page)
        expect(page.get_by_role("heading").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_page_of_another_port_of_this_host_gets_nothing(plane: Service, browser: Browser) -> None:
    """Same site, another origin: a strict cookie alone would let it in."""
    before = plane.get("/api/v0/desktops")
    with plain_page(browser) as page:
        sign_in(plane, page)
        page.goto(plane.url.replace("127.0.0.1", "localhost") + "/login")
        status = page.evaluate(
            """async (url) => {
              try {
                const answer = await fetch(url + "/api/v0/desktops", {
                  method: "POST", credentials: "include", mode: "no-cors", body: "{}",
                });
                return answer.type === "opaque" ? "opaque" : answer.status;
              } catch (error) { return "refused"; }
            }""",
            plane.url,
        )
        assert status in ("opaque", "refused", 403)
    assert plane.get("/api/v0/desktops") == before
