"""Two people and a watcher in three browsers: a member, an owner, and a person who watches."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from scripts.make_people_table import permits
from tests.system.browsing import key_header, plain_page
from tests.system.gated_model import gated_model, held_agent_steps, plane_of
from tests.system.services import Service, until

pytestmark = [pytest.mark.x11, pytest.mark.browser]

ASK = """async ([method, path, key]) => {
  const headers = { "content-type": "application/json", ...key };
  const body = method === "GET" ? undefined : "{}";
  return (await fetch(path, { method, headers, body })).status;
}"""
READ_RUN, STOP_RUN = "GET /api/v0/runs/{chat_id}", "POST /api/v0/chats/{chat_id}/interrupt"
SEND = "POST /api/v0/chats/{chat_id}/messages"
LIST_PEOPLE = "GET /api/v0/people"


@contextmanager
def browser_of(plane: Service, browser: Browser, name: str, role: str) -> Iterator[Page]:
    made = plane.post("/api/v0/people", {"name": name, "role": role}, status=201)
    with plain_page(browser) as page:
        page.goto(made["url"])
        page.wait_for_url(f"{plane.url}/")
        yield page


def ask(page: Page, route: str, chat: str) -> int:
    method, path = route.replace("{chat_id}", chat).split()
    status: int = page.evaluate(ASK, [method, path, key_header(page)])
    return status


LATE_READS = """() => {
  const now = window.fetch;
  window.fetch = async (address, options) => {
    const answer = await now(address, options);
    if (String(address).endsWith("/people") && (options?.method ?? "GET") === "GET") {
      await new Promise((passed) => setTimeout(passed, 700));
      setTimeout(() => document.body.dataset.read = "late", 50);
    }
    return answer;
  };
}"""


@pytest.mark.soak
@pytest.mark.slow("a whole run, and three browsers")
def test_two_people_and_a_watcher_do_what_their_roles_permit(
    tmp_path: Path, browser: Browser
) -> None:
    with ExitStack() as stack:
        model = stack.enter_context(gated_model(held_agent_steps(), 1))
        plane = stack.enter_context(plane_of(tmp_path, model, "plane"))
        ada = stack.enter_context(browser_of(plane, browser, "Ada", "member"))
        bea = stack.enter_context(browser_of(plane, browser, "Bea", "owner"))
        wim = stack.enter_context(browser_of(plane, browser, "Wim", "watcher"))

        expect(wim.locator("#task")).to_be_hidden()
        expect(ada.locator("#start-desktop")).to_be_hidden()
        expect(bea.locator("#start-desktop")).to_be_visible()
        ada.get_by_role("textbox").first.fill("Paint.")
        ada.locator("#task").get_by_role("button").last.click()
        ada.locator("#task-words a").click()
        ada.wait_for_url("**/runs/*")
        chat = ada.url.rpartition("/")[2].partition("#")[0]
        model.gates[1].wait()

        # A run that is not shared exists for its owner and for owners of the control plane.
        expect(wim.locator("#runs li")).to_have_count(0)
        wim.goto(f"{plane.url}/runs/{chat}")
        expect(wim.get_by_text("This sign-in does not permit that")).to_be_visible()
        for route in (READ_RUN, STOP_RUN):
            assert ask(wim, route, chat) == 403
        bea.goto(f"{plane.url}/runs/{chat}")
        expect(bea.locator("#facts")).to_contain_text("by Ada")
        assert ask(bea, LIST_PEOPLE, chat) == 200
        assert ask(ada, LIST_PEOPLE, chat) == 403

        share_with_wim(plane, ada, chat)
        wim.reload()
        expect(wim.locator("#facts")).to_contain_text("by Ada")
        expect(wim.locator("#stop")).to_be_hidden()
        expect(wim.locator("#talk")).to_be_hidden()
        expect(ada.locator("#stop")).to_be_visible()
        expect(ada.locator("#talk")).to_be_visible()
        for route in (READ_RUN, STOP_RUN, SEND):
            permitted = permits(route, "watcher", own=False)
            assert (ask(wim, route, chat) != 403) == permitted

        take_and_give_back(plane, ada, chat)
        model.gates[1].open()
        until(lambda: plane.get(f"/api/v0/chats/{chat}")["recording_file_ids"], "its recording")
        for page in (bea, wim):
            page.reload()
            expect(page.get_by_text("Ada had control").first).to_be_attached()
        (session,) = plane.get(f"/api/v0/runs/{chat}")["people"]
        assert (session["kind"], session["by"], session["private"]) == ("control", "Ada", True)


def share_with_wim(plane: Service, ada: Page, chat: str) -> None:
    """Share a run on its page: with everyone for a while, then with one person."""

    def shared_with() -> list[str]:
        people: list[str] = plane.get(f"/api/v0/runs/{chat}/people")["people"]
        return people

    # The answer to the read of the open box arrives after the first choice, and must not undo it.
    ada.evaluate(LATE_READS)
    ada.get_by_role("button", name="Share").click()
    # Links are for owners to make, and owners see each run anyway.
    expect(ada.get_by_role("button", name="Make a link")).to_be_hidden()
    expect(ada.locator("#share-people li")).to_have_count(2)
    everyone = ada.get_by_label("Everyone who has signed in")
    everyone.check()
    until(lambda: shared_with() == ["*"], "the share with everyone")
    expect(ada.locator("body")).to_have_attribute("data-read", "late")
    expect(everyone).to_be_checked()
    everyone.uncheck()
    until(lambda: not shared_with(), "its end")
    ada.get_by_label("Wim").check()
    until(shared_with, "the share with Wim")


def take_and_give_back(plane: Service, page: Page, chat: str) -> None:
    """Take control as who has signed in, without being asked for a name."""
    desktop = plane.get(f"/api/v0/chats/{chat}")["desktop_id"]
    page.goto(f"{plane.url}/desktops/{desktop}")
    page.get_by_role("button", name="Take control").click()
    give_back = page.get_by_role("button", name="Give back")
    expect(give_back).to_be_visible()
    holder = plane.get(f"/api/v0/desktops/{desktop}/desktop/lease")["holder"]
    assert holder["name"] == "Ada"
    give_back.click()
    expect(page.get_by_role("button", name="Take control")).to_be_visible()
