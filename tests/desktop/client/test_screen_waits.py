"""Waits of the client over a real server and a screen of fakes."""

import asyncio
from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import Response
from PIL import Image

from deskhand import AsyncDesktop, ConditionNotMet, ExpectationFailed, async_expect
from tests.desktop.serving import serving

Json = dict[str, Any]
ORANGE = "#ff8000"


class FakeScreen:
    """A service whose screen changes after each wait for a change."""

    def __init__(self) -> None:
        self.waits: list[Json] = []
        self.colours = ["#000000"]
        """Of the screen now, and after each change."""
        self.widgets: list[list[Json]] = [[]]
        self.answers: list[Json] = []
        """Answers to waits for texts and windows; the usual one is that they are there."""
        self.app = FastAPI()
        self.app.post("/api/v0/desktop/wait-for")(self._wait_for)
        self.app.get("/api/v0/desktop/screenshot")(self._screenshot)
        self.app.get("/api/v0/desktop/accessibility")(self._accessibility)

    async def _wait_for(self, request: Request) -> Json:
        body = await request.json()
        self.waits.append(body)
        if "changed_region" in body:
            for later in (self.colours, self.widgets):
                if len(later) > 1:
                    later.pop(0)
        elif self.answers:
            return self.answers.pop(0)
        return {"met": True, "seen": {"windows": []}}

    async def _screenshot(self) -> Response:
        to = BytesIO()
        Image.new("RGB", (4, 3), self.colours[0]).save(to, "png")
        headers = {"Deskhand-Picture-Size": "4x3", "Deskhand-Frame-Id": "f1"}
        return Response(to.getvalue(), headers=headers)

    async def _accessibility(self) -> Json:
        return {"applications": self.widgets[0]}


def run(scenario: Callable[[AsyncDesktop, FakeScreen], Awaitable[None]]) -> None:
    async def main() -> None:
        screen = FakeScreen()
        async with (
            asyncio.timeout(20),
            serving(screen.app) as address,
            AsyncDesktop.connect(address, "token") as desktop,
        ):
            await scenario(desktop, screen)

    asyncio.run(main())


def test_a_text_and_a_window_are_awaited_by_the_service() -> None:
    async def scenario(desktop: AsyncDesktop, screen: FakeScreen) -> None:
        found = await desktop.wait_until(text="Saved", window="Editor", timeout=5)
        assert found.picture.size == (4, 3)
        (wait,) = screen.waits
        assert (wait["text"], wait["window"]) == ("Saved", "Editor")
        assert 0 < wait["timeout_seconds"] <= 5

    run(scenario)


def test_a_colour_is_found_after_the_change_that_brings_it() -> None:
    async def scenario(desktop: AsyncDesktop, screen: FakeScreen) -> None:
        screen.colours = ["#000000", "#ffffff", ORANGE]
        await desktop.wait_until(colour=ORANGE, region=(0, 0, 2, 2))
        assert len(screen.waits) == 2

    run(scenario)


def test_a_widget_comes_with_its_ref() -> None:
    async def scenario(desktop: AsyncDesktop, screen: FakeScreen) -> None:
        label = {"role": "label", "name": "OK"}
        screen.widgets = [[label], [label, {"role": "button", "name": "OK", "ref": "e2"}]]
        found = await desktop.wait_until(widget="OK", role="button")
        assert found.widget is not None
        assert found.widget.ref == "e2"

    run(scenario)


def test_what_does_not_appear_is_named_with_what_was_there() -> None:
    async def scenario(desktop: AsyncDesktop, screen: FakeScreen) -> None:
        screen.answers = [{"met": False, "seen": {"windows": ["Files"]}}]
        with pytest.raises(ConditionNotMet, match=r'no window "Editor" in 0 s.*"Files"'):
            await desktop.wait_until(window="Editor", timeout=0)
        with pytest.raises(TimeoutError, match=f"no colour {ORANGE}"):
            await desktop.wait_until(colour=ORANGE, timeout=0)

    run(scenario)


def test_a_wait_longer_than_the_services_is_repeated() -> None:
    async def scenario(desktop: AsyncDesktop, screen: FakeScreen) -> None:
        screen.answers = [{"met": False, "seen": {}}]
        await desktop.wait_until(text="Saved", timeout=900)
        assert screen.waits[0]["timeout_seconds"] == 300
        assert len(screen.waits) == 2

    run(scenario)


def test_an_expectation_that_fails_is_a_failed_assertion() -> None:
    async def scenario(desktop: AsyncDesktop, screen: FakeScreen) -> None:
        await async_expect(desktop).to_show("Saved")
        await async_expect(desktop).to_have_window("Editor")
        await async_expect(desktop).to_have_colour("#000000")
        with pytest.raises(AssertionError, match='widget "OK" of role button'):
            await async_expect(desktop, timeout=0).to_have_widget("OK", "button")
        with pytest.raises(ExpectationFailed, match=ORANGE):
            await async_expect(desktop, timeout=0).to_have_colour(ORANGE, (0, 0, 1, 1))

    run(scenario)
