"""The card of an agent's own agent, while that one works and afterwards, in a real Chromium."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.system.browsing import plain_page
from tests.system.gated_model import COLOURS, Json, gated_model, painted_report, painting, plane_of
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]

# A live picture has the address of a blob.
WATCHED = """
window.livePictures = 0;
new MutationObserver((changes) => {
  for (const { target } of changes) {
    if (target.matches?.(".child img") && target.src.startsWith("blob:") && !target.hidden) {
      window.livePictures += 1;
    }
  }
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["src", "hidden"] });
"""


CHILD: list[Json] = [painting(COLOURS[0]), painted_report()]
ORDER = {"prompt": "{prompt}", "model": "anthropic:gated"}
PARENT: list[Json] = [
    {"calls": [{"spawn_computer_use_agent": ORDER}]},
    {"again_while": "timed_out", "calls": [{"wait_agent": {"chat_id": "{result:chat_id}"}}]},
    {"say": "The agent has finished."},
]


@pytest.mark.slow("an agent that starts another one on a desktop")
def test_the_card_of_a_child_shows_it_live_and_then_plays_its_recording(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        # The child is at work until the page has shown a picture of it.
        gated_model(CHILD, 1, parent=PARENT) as model,
        plane_of(tmp_path, model, "plane") as plane,
        plain_page(browser) as page,
    ):
        page.add_init_script(WATCHED)
        sign_in(plane, page)
        task = {"title": "Parent", "prompt": "show the date", "model": "anthropic:parent"}
        chat = plane.post("/api/v0/chats", task)["id"]
        page.goto(f"{plane.url}/runs/{chat}")
        spawned, waited = page.locator(".call-card .child").first, page.locator(".call-card .child")
        page.wait_for_function("() => window.livePictures > 0")
        model.gates[1].open()
        expect(spawned.locator(".badge")).to_have_text("Done")
        expect(spawned.locator(".child-length")).to_have_text(re.compile(r"\d s$"))
        expect(spawned.locator("img")).to_have_attribute("src", re.compile("/api/v0/files/"))
        # The call that started it, and the call that waited for it.
        expect(waited).to_have_count(2)
        spawned.get_by_role("button", name="Play here").click()
        page.wait_for_function("() => document.querySelector('.child video')?.currentTime > 0")
        assert page.url.endswith(f"/runs/{chat}")
        # This agent works in no repository.
        expect(page.get_by_role("tab", name="Changes")).to_be_hidden()
