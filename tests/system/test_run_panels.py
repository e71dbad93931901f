"""Side panels of a run's page, beside an agent at work: its processes, its files, its changes."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.system.browsing import plain_page
from tests.system.gated_model import gated_model, painted_report, plane_of
from tests.system.services import Service
from tests.system.test_accessible_pages import AXE, EACH_LOOK, Looks, problems
from tests.system.test_whole_browser import sign_in

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.soak]

MAKE_REPOSITORY = (
    "git init -q work && cd work && echo one > a.txt && git add . && "
    "git -c user.name=a -c user.email=a@b commit -qm first"
)
SERVING = "echo listening; exec sleep 1000"


def executed(command: str, **more: Any) -> dict[str, Any]:
    return {"calls": [{"execute": {"command": command, **more}}]}


STEPS = [
    executed(MAKE_REPOSITORY),
    executed(SERVING, run_in_background=True),
    {"calls": [{"write_file": {"path": "work/a.txt", "content": "one\ntwo\n"}}]},
    painted_report(),
]


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def check_processes(page: Page) -> None:
    tab(page, "Processes")
    row = page.locator(".process", has_text="sleep 1000")
    expect(row.locator(".badge")).to_have_text("Running")
    expect(row.locator(".process-time")).to_have_text(re.compile(r"\d s"))
    row.locator("summary").click()
    expect(row.locator(".output-line")).to_have_text("listening")
    row.get_by_role("button", name="Terminate").click()
    expect(row.locator(".badge")).to_have_text(re.compile("Exit|Ended by"))
    done = page.locator(".process", has_text="git init").locator(".badge")
    expect(done).to_have_text("Exit 0")


def check_files(page: Page, folder: Path) -> None:
    tab(page, "Files")
    panel = page.locator("#files-panel")
    panel.get_by_role("button", name="work/").click()
    panel.get_by_role("button", name="a.txt", exact=True).click()
    expect(panel.locator(".output-line").nth(1)).to_have_text("two")
    (folder / "given.txt").write_text("from a person")
    panel.get_by_label("Add files").set_input_files(folder / "given.txt")
    with page.expect_download() as saved:
        panel.get_by_role("link", name="Save given.txt").click()
    assert saved.value.suggested_filename == "given.txt"
    assert saved.value.path().read_text() == "from a person"
    panel.get_by_label("Add files").set_input_files(folder / "given.txt")
    expect(panel.get_by_text("given.txt exists in this folder already.")).to_be_visible()


def check_changes(page: Page) -> None:
    tab(page, "Changes")
    changed = page.locator(".changed-file", has_text="a.txt")
    expect(changed.locator(".lines-added")).to_have_text("+1")
    changed.locator("summary").click()
    expect(changed.locator(".output-line", has_text="+two")).to_be_visible()


def check_open_file(page: Page) -> None:
    tab(page, "Conversation")
    card = page.locator(".call-card", has_text="a.txt").last
    card.locator("summary").click()
    card.get_by_role("button", name="Details").click()
    page.get_by_role("button", name="Open work/a.txt").click()
    expect(page.locator(".opened-file .panel-head h3")).to_have_text("a.txt")


@pytest.mark.slow("a control plane with an agent at work, and a browser")
@EACH_LOOK
def test_panels_show_what_runs_and_what_changes_on_the_desktop(
    browser: Browser, tmp_path: Path, looks: Looks
) -> None:
    last = len(STEPS) - 1
    with (
        gated_model(STEPS, last) as model,
        plane_of(tmp_path, model, "panels") as plane,
        plain_page(browser) as page,
    ):
        chat = start(plane)
        model.gates[last].wait()
        page.add_init_script(path=AXE)
        sign_in(plane, page, f"/runs/{chat}")
        check_processes(page)
        found = problems(page, looks)
        check_files(page, tmp_path)
        found += problems(page, looks)
        check_changes(page)
        found += problems(page, looks)
        page.set_viewport_size({"width": 390, "height": 844})
        assert not found + problems(page, looks)
        check_open_file(page)


NODES = "[...document.querySelectorAll('#conversation > *')].map((node) => node.outerHTML)"


@pytest.mark.slow("a control plane with an agent at work, and a browser")
def test_a_page_open_from_the_start_has_the_nodes_of_one_opened_after_the_run(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        gated_model(STEPS, 0) as model,
        plane_of(tmp_path, model, "nodes") as plane,
        plain_page(browser) as early,
        plain_page(browser) as late,
    ):
        chat = start(plane)
        model.gates[0].wait()
        sign_in(plane, early, f"/runs/{chat}")
        expect(early.get_by_label("Message", exact=True).last).to_be_visible()
        early.get_by_label("Message", exact=True).last.fill("Also look at the log.")
        early.get_by_role("button", name="Send", exact=True).click()
        expect(early.get_by_text("Sent.")).to_be_visible()
        model.gates[0].open()
        for page in (early, late):
            if page is late:
                sign_in(plane, late, f"/runs/{chat}")
                tab(late, "Conversation")
            expect(page.locator("#facts .badge")).to_have_text("Done")
            expect(page.locator(".call-card")).to_have_count(len(STEPS))
            expect(page.locator(".said")).to_have_count(2)
            expect(page.locator(".said-queued:not(:empty)")).to_have_count(0)
        same = f"wanted => JSON.stringify({NODES}) === JSON.stringify(wanted)"
        early.wait_for_function(same, arg=late.evaluate(NODES))


def start(plane: Service) -> str:
    body = {"prompt": "Work.", "mode": "computer_use"}
    return str(plane.post("/api/v0/chats", body, status=201)["id"])
