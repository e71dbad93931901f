"""One action of each kind and what is answered, from outside; `test_messages` has them all."""

import asyncio
import base64
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from PIL import Image

from tests.system.services import PATIENCE, Service, SharedDesktop, until

pytestmark = pytest.mark.x11

AT = {"coordinate": [600, 500]}


@pytest.fixture(scope="module")
def shared(one_desktop: SharedDesktop) -> Iterator[Service]:
    """A desktop for the tests of this file, which check responses only."""
    yield one_desktop.running()
    one_desktop.clear()


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("key", {"text": "Page_Down Return"}),
        ("type", {"text": "word"}),
        ("left_click", {**AT, "text": "ctrl+shift"}),
        ("left_click_drag", {**AT, "start_coordinate": [500, 500], "duration": 0.01}),
        ("scroll", {**AT, "scroll_direction": "up", "scroll_pixels": 106}),
    ],
)
def test_a_performed_action_is_described(
    shared: Service, action: str, fields: dict[str, Any]
) -> None:
    reply = shared.act(action=action, **fields)
    # No window gets a text here, which the output of `type` adds.
    assert reply["output"].startswith(f"{action} action performed")
    assert reply["space"] == {"name": "model", "width": 1280, "height": 720}
    assert ("point" in reply) == ("coordinate" in fields or "path" in fields)
    assert "screenshot_data" not in reply


def test_a_wrong_action_is_a_400_with_the_reason(shared: Service) -> None:
    refused = shared.post("/api/v0/desktop/action", {"action": "dance"}, status=400)
    assert refused["message"] == "Unknown action: dance"
    outside = {"action": "left_click", "coordinate": [99999, 5]}
    refused = shared.post("/api/v0/desktop/action", outside, status=400)
    assert refused["message"] == "(99999, 5) is outside of the screenshot, which is 1280x720."


@pytest.mark.parametrize(
    ("asked", "point", "native", "clamped"),
    [
        ({"coordinate": [0, 0]}, [0, 0], [0, 0], False),
        ({"coordinate": [853, 402]}, [853, 402], [1280, 603], False),
        ({"coordinate": [1281, -2]}, [1279, 0], [1919, 0], True),
        (
            {"coordinate": [1919, 1079], "coordinate_space": "native"},
            [1919, 1079],
            [1919, 1079],
            False,
        ),
        (
            {"coordinate": [999, 999], "coordinate_space": "normalized_1000"},
            [999, 999],
            [1919, 1079],
            False,
        ),
        (
            {"coordinate": [639, 359], "scaled_width": 640, "scaled_height": 360},
            [639, 359],
            [1918, 1078],
            False,
        ),
    ],
)
def test_a_point_is_reported_as_requested_and_as_used(
    shared: Service, asked: dict[str, Any], point: list[int], native: list[int], clamped: bool
) -> None:
    reply = shared.act(action="mouse_move", **asked)
    assert reply["point"] == point
    assert reply["native_point"] == native
    assert reply["clamped"] is clamped
    there = shared.act(action="cursor_position", coordinate_space="native")
    assert there["output"] == f"x={native[0]},y={native[1]}"


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        ({}, (1280, 720)),
        ({"coordinate_space": "native"}, (1920, 1080)),
        ({"coordinate_space": "normalized_1000"}, (1280, 720)),
        ({"scaled_width": 640, "scaled_height": 400, "format": "jpeg"}, (640, 400)),
        ({"region": [0, 0, 100, 100], "format": "webp"}, (720, 720)),
        ({"region": [500, 600, 100, 200]}, (720, 720)),
    ],
)
def test_a_screenshot_has_the_size_of_its_space(
    shared: Service, asked: dict[str, Any], size: tuple[int, int]
) -> None:
    reply = shared.act(action="screenshot", **asked)
    picture = Image.open(io.BytesIO(base64.b64decode(reply["screenshot_data"])))
    assert reply["output"] == "screenshot"
    assert picture.size == size == (reply["screenshot_width"], reply["screenshot_height"])
    assert reply["screenshot_media_type"] == f"image/{(picture.format or '').lower()}"
    same = shared.act(action="screenshot", since=reply["frame_id"], **asked)
    assert same.get("unchanged") is True or same["frame_id"] != reply["frame_id"]


def test_a_batch_goes_to_its_first_error_and_skips_the_rest(shared: Service) -> None:
    move = {"action": "mouse_move", "coordinate": [5, 5]}
    shot = {"action": "screenshot", "scaled_width": 64, "scaled_height": 36}
    done = shared.post("/api/v0/desktop/actions", {"actions": [move, shot], "observe": True})
    assert [result["output"] for result in done["results"]] == [
        "mouse_move action performed",
        "screenshot",
    ]
    assert done["results"][1]["screenshot_width"] == 64
    assert (done["screenshot_width"], done["skipped"]) == (1280, 0)
    wrong = {"actions": [move, {"action": "dance"}]}
    refused = shared.post("/api/v0/desktop/actions", wrong, status=400)
    assert refused == {"message": "Unknown action: dance", "detail": "In actions[1]."}
    many = shared.post("/api/v0/desktop/actions", {"actions": [move] * 101}, status=400)
    assert many["message"] == '"actions" must have 1 to 100 items.'
    # Every key that could carry a foreign symbol is held, so the last text has no room.
    shared.act(action="key_down", text="+".join(chr(0x4E00 + n) for n in range(86)))
    text = {"action": "type", "text": "語"}
    failed = shared.post("/api/v0/desktop/actions", {"actions": [text, move, move]})
    assert failed["results"][0]["error"]["message"] == "Type action failed."
    assert failed["results"][1:] == [{"skipped": True}] * 2
    assert failed["skipped"] == 2
    assert shared.act(**text)["output"].startswith("type action performed")


def test_thirty_two_actions_wait_and_the_next_is_a_429(shared: Service) -> None:
    async def crowd() -> list[int]:
        headers = {"Authorization": f"Bearer {shared.token}"}
        async with httpx2.AsyncClient(
            base_url=shared.url, headers=headers, timeout=PATIENCE, trust_env=False
        ) as client:

            async def wait() -> int:
                body = {"action": "wait", "duration": 100}
                answer = await client.post("/api/v0/desktop/action", json=body)
                assert answer.headers["retry-after"] == "1"
                return answer.status_code

            waiting = [asyncio.create_task(wait()) for _ in range(36)]
            refused = []
            for done in asyncio.as_completed(waiting):
                refused.append(await done)
                if len(refused) == 3:
                    break
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            return refused

    assert asyncio.run(crowd()) == [429, 429, 429]

    def acts_again() -> bool:
        # Until the service notices that the clients have gone, they still wait.
        body = {"action": "wait", "duration": 0}
        answer = shared.http.post("/api/v0/desktop/action", json=body)
        assert answer.status_code in (200, 429), answer.text
        return answer.status_code == 200

    until(acts_again, "room for an action")


def test_a_pointer_that_moved_is_a_new_picture(shared: Service) -> None:
    shared.act(action="mouse_move", coordinate=[200, 200])
    shown = shared.act(action="screenshot")["frame_id"]
    shared.act(action="mouse_move", coordinate=[900, 500])
    moved = shared.act(action="screenshot", since=shown)
    assert "unchanged" not in moved
    assert moved["screenshot_data"]


def test_a_waiting_screenshot_is_answered_by_the_next_change(desktop: Service) -> None:
    path = "/api/v0/desktop/screenshot"
    until(lambda: quiet(desktop, path), "a quiet screen")
    known = {"If-None-Match": desktop.http.get(path).headers["ETag"]}
    assert desktop.http.get(path, params={"wait": 0}, headers=known).status_code == 304
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(
            desktop.http.get, path, params={"wait": 60}, headers=known, timeout=2 * PATIENCE
        )
        desktop.post("/api/v0/desktop/launch", {"name": "terminal"})
        assert waiting.result().status_code == 200
    refused = desktop.http.get(path, params={"wait": 61})
    assert (refused.status_code, "0 to 60 seconds" in refused.text) == (400, True)


def quiet(desktop: Service, path: str) -> bool:
    """Return whether the screen shows the same for a moment."""
    known = {"If-None-Match": desktop.http.get(path).headers["ETag"]}
    return desktop.http.get(path, params={"wait": 0.5}, headers=known).status_code == 304
