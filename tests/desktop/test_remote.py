"""The client over the real routes and a computer of fakes."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable, InvalidAction
from deskhand.desktop.geometry import Point, Region, Size, SpaceName
from deskhand.desktop.input.events import ButtonPress, KeyPress, PointerMotion, Tap
from deskhand.desktop.remote import Desktop
from deskhand.desktop.remote_sync import Desktop as BlockingDesktop
from tests.desktop.serving import Service, serving

Scenario = Callable[[Desktop, Service], Awaitable[None]]


def run(scenario: Scenario, space: SpaceName = "model") -> None:
    async def main() -> None:
        service = Service()
        async with (
            asyncio.timeout(20),
            service.computer,
            serving(service.app) as address,
            Desktop.connect(address, "token", space=space) as desktop,
        ):
            await scenario(desktop, service)

    asyncio.run(main())


def test_a_click_lands_where_the_picture_shows_it() -> None:
    async def scenario(desktop: Desktop, service: Service) -> None:
        done = await desktop.mouse.click(640, 360)
        assert done.point == Point(640, 360)
        assert done.native_point == Point(960, 540)
        assert PointerMotion(Point(960, 540)) in service.input.done

    run(scenario)


def test_points_may_be_those_of_the_screen() -> None:
    async def scenario(desktop: Desktop, service: Service) -> None:
        await desktop.mouse.move(7, 8)
        assert service.input.at == Point(7, 8)
        assert await desktop.cursor() == Point(7, 8)
        assert (await desktop.screenshot()).size == Size(1920, 1080)

    run(scenario, "native")


def test_several_actions_go_in_one_request() -> None:
    async def scenario(desktop: Desktop, service: Service) -> None:
        move = {"action": "mouse_move", "coordinate": [640, 360]}
        batch = await desktop.batch(move, {"action": "cursor_position"}, observe=True)
        assert [done.native_point for done in batch.done] == [Point(960, 540)] * 2
        assert (batch.error, batch.skipped) == ("", 0)
        assert batch.seen.picture is not None
        with pytest.raises(DesktopRefused, match="Unknown action"):
            await desktop.batch(move, {"action": "dance"})

    run(scenario)


def test_the_mouse_does_all_that_a_mouse_does() -> None:
    async def scenario(desktop: Desktop, service: Service) -> None:
        mouse = desktop.mouse
        for button, number in (("right", 3), ("middle", 2), ("back", 8), ("forward", 9)):
            await mouse.click(1, 1, button=button)  # type: ignore[arg-type]
            assert ButtonPress(number) in service.input.done
        service.input.done.clear()
        await mouse.double_click(1, 1)
        await mouse.click(1, 1, count=3, modifiers=["ctrl", "shift"])
        assert service.input.done.count(ButtonPress(1)) == 5
        assert any(isinstance(event, KeyPress) for event in service.input.done)
        await mouse.down()
        await mouse.up()
        await mouse.down(2, 4, button="right")
        await mouse.up(20, 40, button="right")
        assert service.input.at == Point(30, 60)
        with pytest.raises(InvalidAction, match="both coordinates"):
            await mouse.up(5)
        await mouse.click(1, 1, button="middle", count=2)
        await mouse.drag((1, 1), (50, 60), (70, 80), seconds=0.01, button="middle")
        assert service.input.done.count(ButtonPress(2)) == 3
        assert service.input.at == Point(105, 120)
        service.input.done.clear()
        await mouse.scroll(3, 3, "up", 2)
        await mouse.scroll(3, 3, "left", pixels=53)
        assert service.input.done.count(ButtonPress(4)) == 2
        assert service.input.done.count(ButtonPress(6)) == 1
        await mouse.scroll(3, 3, by=(160, -80))
        assert service.input.done.count(ButtonPress(4)) == 2 + 1
        assert service.input.done.count(ButtonPress(7)) == 2

    run(scenario)


@pytest.mark.parametrize(("button", "count"), [("left", 4), ("right", 0)])
def test_a_click_that_does_not_exist_is_refused_before_it_is_sent(button: str, count: int) -> None:
    async def scenario(desktop: Desktop, service: Service) -> None:
        with pytest.raises(InvalidAction, match="one to three"):
            await desktop.mouse.click(1, 1, button=button, count=count)  # type: ignore[arg-type]
        assert service.input.done == []

    run(scenario)


def test_the_keyboard_types_presses_and_holds() -> None:
    async def scenario(desktop: Desktop, service: Service) -> None:
        await desktop.keyboard.type("aé", delay_ms=1)
        assert service.input.done == [Tap(0x61), Tap(0xE9)]
        await desktop.keyboard.press("ctrl+s")
        await desktop.keyboard.down("shift")
        await desktop.keyboard.up("shift")
        await desktop.keyboard.hold("a", 0.01)
        await desktop.wait(0.01)
        with pytest.raises(DesktopRefused) as caught:
            await desktop.keyboard.press("ctrl+nokey")
        assert caught.value.status == 400

    run(scenario)


def test_an_observed_action_brings_the_picture_of_its_effect() -> None:
    async def scenario(desktop: Desktop, service: Service) -> None:
        done = await desktop.keyboard.press("Return", observe=True)
        assert done.settled == "no_change"
        assert done.picture is not None
        assert done.picture.size == Size(1280, 720)
        done = await desktop.act("left_click", {"screenshot": False}, coordinate=[1, 2])
        assert done.picture is None
        assert done.changed_fraction == 0.0

    run(scenario)


def test_a_picture_has_the_format_and_region_that_were_asked_for(tmp_path: Path) -> None:
    async def scenario(desktop: Desktop, service: Service) -> None:
        to = tmp_path / "part.webp"
        taken = await desktop.screenshot(
            region=(0, 0, 640, 360), format="webp", quality=50, cursor=False, path=to
        )
        assert to.read_bytes() == taken.data
        assert taken.format == "webp"
        again = await desktop.screenshot(since=taken.frame_id)
        assert again.unchanged
        assert again.frame_id == taken.frame_id
        service.screen.paint(Region(0, 0, 5, 5))
        assert not (await desktop.screenshot(since=taken.frame_id)).unchanged

    run(scenario)


def test_outside_of_its_block_a_desktop_is_unavailable() -> None:
    desktop = Desktop.connect("http://127.0.0.1:9", "token")
    with pytest.raises(DesktopUnavailable, match="with block"):
        asyncio.run(desktop.cursor())


def test_a_desktop_that_cannot_start_has_the_reason() -> None:
    desktop = BlockingDesktop.launch("--size", "fishy")
    with pytest.raises(DesktopUnavailable, match="fishy"):
        desktop.__enter__()
    with pytest.raises(DesktopUnavailable):
        desktop.recording.start(str(uuid.uuid4()))
    desktop.close()


def test_without_a_loop_the_same_calls_block() -> None:
    async def scenario(_: Desktop, service: Service) -> None:
        async with serving(service.app) as address:
            await asyncio.to_thread(use, address)
        assert service.input.at == Point(960, 540)

    def use(address: str) -> None:
        with BlockingDesktop.connect(address, "token") as desktop:
            assert desktop.mouse.click(640, 360).native_point == Point(960, 540)
            assert desktop.screenshot().size == Size(1280, 720)
            with pytest.raises(DesktopRefused):
                desktop.keyboard.press("nokey+nokey")
        desktop.close()

    run(scenario)


def with_status() -> FastAPI:
    """Return an application with the route that every client asks first."""
    app = FastAPI()

    @app.get("/api/v0/desktop")
    async def status() -> dict[str, Any]:
        return {"instance_id": "i"}

    return app


def test_pages_of_the_browser_are_read() -> None:
    seen: list[Any] = []
    app = with_status()

    @app.post("/api/v0/desktop/browser")
    async def browser(request: Request) -> dict[str, Any]:
        seen.append(await request.json())
        return {"text": "page", "browser_state": {"tabs": []}}

    async def main() -> None:
        async with serving(app) as address, Desktop.connect(address, "token") as desktop:
            assert (await desktop.browser("find", query="send")).text == "page"

    asyncio.run(main())
    assert seen == [{"action": "find", "query": "send"}]


def test_widgets_are_listed_and_clicked() -> None:
    seen: list[Any] = []
    app = with_status()

    @app.get("/api/v0/desktop/accessibility")
    async def tree() -> dict[str, Any]:
        return {"applications": [{"role": "button", "name": "Go", "ref": "e1"}]}

    @app.post("/api/v0/desktop/action")
    async def action(request: Request) -> dict[str, Any]:
        seen.append(await request.json())
        return {"output": "left_click action performed", "frame_id": "a-1"}

    async def main() -> None:
        async with serving(app) as address, Desktop.connect(address, "token") as desktop:
            (button,) = await desktop.accessibility()
            assert button.name == "Go"
            await desktop.mouse.click_widget(button.ref)

    asyncio.run(main())
    assert seen == [{"action": "left_click", "coordinate_space": "model", "ref": "e1"}]


WHOLE = {"gap_bytes": 0, "has_more": False}
"""Fields of an answer that has all of an output."""


@pytest.mark.parametrize("code", [409, 500])
def test_a_command_that_exits_before_it_is_killed_has_its_result(code: int) -> None:
    app = with_status()

    @app.post("/api/v0/processes/start")
    async def start() -> dict[str, Any]:
        return {"id": "1"}

    signalled = False

    @app.get("/api/v0/processes/1/output")
    async def output() -> dict[str, Any]:
        return {"running": not signalled, "output": "done", "exit_code": 3, **WHOLE}

    @app.post("/api/v0/processes/1/signal")
    async def signal() -> JSONResponse:
        nonlocal signalled
        signalled = True
        return JSONResponse({"message": "Process is not running."}, code)

    async def main() -> None:
        async with serving(app) as address, Desktop.connect(address, "token") as desktop:
            if code == 409:
                ended = await desktop.run("exit 3", timeout=0.001)
                assert (ended.exit_code, ended.output) == (3, "done")
            else:
                with pytest.raises(DesktopRefused):
                    await desktop.run("exit 3", timeout=0.001)

    asyncio.run(main())


def test_every_action_and_command_names_the_instance_it_was_first_sent_to() -> None:
    seen: list[tuple[str, str | None]] = []
    app = FastAPI()

    @app.get("/api/v0/desktop")
    async def status() -> dict[str, Any]:
        return {"instance_id": f"i{len(seen)}"}

    @app.post("/api/v0/{path:path}")
    async def post(path: str, request: Request) -> dict[str, Any]:
        seen.append((path, request.headers.get("Deskhand-Instance")))
        done = {"output": "", "frame_id": "a-1", "instance_id": "i0"}
        return {**done, "id": "1", "results": [], "skipped": 0}

    @app.get("/api/v0/processes/1/output")
    async def output() -> dict[str, Any]:
        return {"running": False, "output": "", "exit_code": 0, **WHOLE}

    async def main() -> None:
        async with serving(app) as address:
            desktop = Desktop.connect(address, "token")
            async with desktop:
                await desktop.keyboard.press("a")
                await desktop.batch({"action": "wait", "duration": 0})
                await desktop.run("true")
            async with desktop:
                await desktop.keyboard.press("a")

    asyncio.run(main())
    paths = ["desktop/action", "desktop/actions", "processes/start", "desktop/action"]
    assert seen == list(zip(paths, ["i0", "i0", "i0", "i3"], strict=True))
