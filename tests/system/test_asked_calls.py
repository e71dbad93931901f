"""Calls that wait for an approval, as the pages show them, in a real Chromium."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from deskhand.tools.agents.approvals.question_text import question_text
from deskhand.tools.agents.approvals.risk_rules import FoundRisk
from deskhand.tools.control_plane import pages
from tests.system.browsing import BrowserConnection
from tests.system.test_pages_browser import browsing
from tests.tools.control_plane.fakes import ControlPlaneFixture, control_plane

pytestmark = [
    *(pytest.mark.x11, pytest.mark.browser, pytest.mark.soak),
    pytest.mark.slow("a sign-in in a real browser for each page"),
]

END = "rm -rf ~/everything"
LONG = "\n".join((*(f"echo harmless {number}" for number in range(200)), END))
RISKS = (FoundRisk("delete", "it deletes something (rm)"),)
IS_CUT = "one => one.scrollHeight > one.clientHeight + 1"


def asking(tmp_path: Path, command: str) -> tuple[ControlPlaneFixture, str]:
    """Return a control plane with a chat that asks for the approval of a command."""
    shown = control_plane(tmp_path, pages=[pages.router()])
    question: dict[str, Any] = {
        "id": "q1",
        "kind": "approval",
        "question": question_text("execute", {"command": command}, RISKS),
        "asked_at": time.time(),
        "deadline": time.time() + 86_400,
    }
    chat = shown.chats.add(
        title="Clean up", mode="computer_use", state="requires_action", requires_action=question
    )
    return shown, chat.id


def question_on(page: Page, path: str) -> Locator:
    return page.locator("#question-box" if path.startswith("/runs") else "#needs")


PLACES = ["/", "/runs/{chat}"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["page", "phone"])
def test_a_long_call_is_approved_after_it_was_opened(
    connection: BrowserConnection, tmp_path: Path, place: str, size: tuple[int, int]
) -> None:
    async def scenario() -> None:
        shown, chat = asking(tmp_path, LONG)
        path = place.format(chat=chat)
        async with browsing(connection, shown, path) as page:
            await page.set_viewport_size({"width": size[0], "height": size[1]})
            asked = question_on(page, path)
            approve = asked.get_by_role("button", name="Approve")
            await expect(approve).to_be_disabled()
            await expect(asked.get_by_role("button", name="Refuse")).to_be_enabled()
            call = asked.get_by_label("The call")
            await expect(call).to_contain_text(END)
            assert await call.evaluate(IS_CUT)
            await asked.get_by_role("button", name="Show the whole call").click()
            await expect(approve).to_be_enabled()
            await expect(asked.get_by_role("button", name="Show the whole call")).to_be_hidden()
            assert not await call.evaluate(IS_CUT)
            await approve.scroll_into_view_if_needed()
            async with page.expect_response("**/answer") as answered:
                await approve.click()
            assert (await answered.value).ok
        assert ("answer", chat, "approve", "q1") in shown.chats.asked

    connection.play(scenario())


@pytest.mark.parametrize("place", PLACES)
def test_a_call_that_fits_needs_no_opening(
    connection: BrowserConnection, tmp_path: Path, place: str
) -> None:
    async def scenario() -> None:
        for command in ("rm x", "cd /x\nrm x"):
            shown, chat = asking(tmp_path / str(len(command)), command)
            path = place.format(chat=chat)
            async with browsing(connection, shown, path) as page:
                asked = question_on(page, path)
                await expect(asked.get_by_role("button", name="Approve")).to_be_enabled()
                await expect(asked.get_by_role("button", name="Show the whole")).to_be_hidden()
                await expect(asked).to_contain_text("rm x")

    connection.play(scenario())


def test_an_opened_call_is_cut_off_again_when_another_one_is_asked(
    connection: BrowserConnection, tmp_path: Path
) -> None:
    async def scenario() -> None:
        shown, chat = asking(tmp_path, LONG)
        async with browsing(connection, shown, f"/runs/{chat}") as page:
            asked = question_on(page, "/runs")
            await asked.get_by_role("button", name="Show the whole call").click()
            await expect(asked.get_by_role("button", name="Approve")).to_be_enabled()
            text = question_text("execute", {"command": f"{LONG} /"}, RISKS)
            view = shown.chats.known[chat]
            question = {**(view.requires_action or {}), "id": "q2", "question": text}
            shown.chats.known[chat] = replace(view, requires_action=question)
            shown.chats.hub.publish("status", chat)
            await expect(asked.get_by_role("button", name="Approve")).to_be_disabled()

    connection.play(scenario())
