import asyncio
import base64
import json
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from deskhand.desktop.capture.frames import Damage
from deskhand.desktop.errors import DisplayGone, UntypableText
from deskhand.desktop.geometry import Region
from deskhand.desktop.input.events import KeyPress, PointerMotion
from tests.desktop.fakes import pointer
from tests.desktop.serving import Service, serving

LIMIT = 20
UNUSED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
URL = "/api/v0/desktop"
CLICK: dict[str, Any] = {"action": "left_click", "coordinate": [0, 0]}

Scenario = Callable[[Service, httpx2.AsyncClient], Awaitable[None]]


@asynccontextmanager
async def visiting() -> AsyncIterator[tuple[Service, httpx2.AsyncClient]]:
    service = Service()
    async with (
        service.computer,
        serving(service.app) as address,
        httpx2.AsyncClient(
            base_url=address, verify=UNUSED, trust_env=False, timeout=LIMIT
        ) as client,
    ):
        yield service, client


def run(scenario: Scenario) -> None:
    async def limited() -> None:
        async with asyncio.timeout(LIMIT), visiting() as (service, client):
            await scenario(service, client)

    asyncio.run(limited())


def test_the_status_is_that_of_the_service() -> None:
    async def scenario(_: Service, client: httpx2.AsyncClient) -> None:
        assert (await client.get(URL)).json() == {"display": ":7"}

    run(scenario)


def test_a_screenshot_is_a_png_of_the_models_size() -> None:
    async def scenario(_: Service, client: httpx2.AsyncClient) -> None:
        answer = await client.get(f"{URL}/screenshot")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "image/png"
        assert answer.content == b"png 1280x720 of 0"
        assert answer.headers["deskhand-frame-id"] == "boot-0"
        assert answer.headers["deskhand-picture-size"] == "1280x720"
        assert answer.headers["deskhand-native-size"] == "1920x1080"
        assert answer.headers["deskhand-space"] == "model 1280x720"
        stages = [
            stage.partition(";dur=")[0] for stage in answer.headers["server-timing"].split(", ")
        ]
        assert stages == ["capture", "encode"]

    run(scenario)


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("format=jpeg&quality=50", b"jpeg 1280x720 of 0"),
        ("coordinate_space=native", b"png 1920x1080 of 0"),
        ("scaled_width=640&scaled_height=360&cursor=false", b"png 640x360 of 0"),
        ("region=0,0,100,%20100&format=webp", b"webp 720x720 of 0"),
        ("since=boot-17&cursor=1", b"png 1280x720 of 0"),
    ],
)
def test_a_screenshot_is_as_wanted(query: str, content: bytes) -> None:
    async def scenario(_: Service, client: httpx2.AsyncClient) -> None:
        answer = await client.get(f"{URL}/screenshot?{query}")
        assert answer.content == content
        assert answer.headers["content-type"] == f"image/{content.split()[0].decode()}"

    run(scenario)


@pytest.mark.parametrize(
    "query",
    [
        "scaled_width=640",
        "scaled_width=5&scaled_height=5",
        "scaled_width=x&scaled_height=5",
        "region=1,2,3",
        "region=a,b,c,d",
        "cursor=maybe",
        "format=gif",
        "quality=101",
        "quality=5&quality=5",
        "colour=red",
        "action=left_click",
        "observe=true",
    ],
)
def test_a_screenshot_that_cannot_be_is_refused(query: str) -> None:
    async def scenario(_: Service, client: httpx2.AsyncClient) -> None:
        answer = await client.get(f"{URL}/screenshot?{query}")
        assert answer.status_code == 400
        assert answer.json()["message"]
        assert "body" not in answer.text

    run(scenario)


def test_a_region_without_extent_is_one_pixel_as_everywhere() -> None:
    async def scenario(_: Service, client: httpx2.AsyncClient) -> None:
        empty, one = [
            await client.get(f"{URL}/screenshot?coordinate_space=native&region={region}")
            for region in ("0,0,0,0", "0,0,1,1")
        ]
        assert empty.status_code == 200
        assert empty.content == one.content

    run(scenario)


def test_a_wildcard_tag_matches_any_picture() -> None:
    async def scenario(_: Service, client: httpx2.AsyncClient) -> None:
        anything = {"If-None-Match": "*"}
        answer = await client.get(f"{URL}/screenshot", headers=anything)
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == (await client.get(f"{URL}/screenshot")).headers["etag"]
        assert answer.headers["server-timing"].startswith("capture;dur=")
        wrong = await client.get(f"{URL}/screenshot?region=1,2,3", headers=anything)
        assert wrong.status_code == 400

    run(scenario)


def test_tags_may_come_in_several_headers() -> None:
    async def scenario(_: Service, client: httpx2.AsyncClient) -> None:
        tag = (await client.get(f"{URL}/screenshot")).headers["etag"]
        known = [("If-None-Match", '"x"'), ("If-None-Match", tag)]
        assert (await client.get(f"{URL}/screenshot", headers=known)).status_code == 304

    run(scenario)


def test_an_unchanged_screen_is_not_sent_again() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        first = await client.get(f"{URL}/screenshot")
        known = {"If-None-Match": f'"x", W/{first.headers["etag"]}'}
        again = await client.get(f"{URL}/screenshot", headers=known)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        assert (await client.get(f"{URL}/screenshot?since=boot-0")).status_code == 304
        service.screen.drawn = pointer(9, 9)
        assert (await client.get(f"{URL}/screenshot", headers=known)).status_code == 200
        service.screen.paint(Region(0, 0, 9, 9))
        assert (await client.get(f"{URL}/screenshot?since=boot-0")).status_code == 200

    run(scenario)


def test_what_a_picture_would_be_can_be_asked_without_it() -> None:
    async def scenario(_: Service, client: httpx2.AsyncClient) -> None:
        full = await client.get(f"{URL}/screenshot")
        head = await client.head(f"{URL}/screenshot")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["etag"] == full.headers["etag"]
        assert head.headers["content-length"] == str(len(full.content))

    run(scenario)


def test_an_action_answers_with_points_and_space() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        click = {**CLICK, "coordinate": [853, 402]}
        headers = {"Coder-Tool-Call-Id": "call-9", "Deskhand-Chat-Id": "chat-9"}
        answer = await client.post(f"{URL}/action", json=click, headers=headers)
        body = answer.json()
        timings = body.pop("timings")
        assert body == {
            "output": "left_click action performed",
            "frame_id": "boot-0",
            "point": [853, 402],
            "native_point": [1280, 603],
            "model_point": [853, 402],
            "clamped": False,
            "space": {"name": "model", "width": 1280, "height": 720},
            "instance_id": "instance",
        }
        assert set(timings) == {"act_ms", "settle_ms", "capture_ms", "encode_ms"}
        assert (service.records[0].tool_call_id, service.records[0].chat_id) == ("call-9", "chat-9")
        assert isinstance(service.input.done[0], PointerMotion)

    run(scenario)


def test_acting_and_observing_answers_with_a_picture() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        spot = Region(0, 0, 150, 150)
        service.screen.coming.append(Damage(service.clock.now + 0.02, (spot,)))
        answer = await client.post(f"{URL}/action", json={**CLICK, "observe": {}})
        body = answer.json()
        assert base64.b64decode(body["screenshot_data"]) == b"png 1280x720 of 1"
        assert body["settled"] == "quiet"
        assert body["changed_regions"] == [[0, 0, 100, 100]]
        assert body["frame_id"] == "boot-1"

    run(scenario)


def test_a_batch_answers_for_each_action() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        service.input.refuse = lambda event: (
            UntypableText("x") if isinstance(event, KeyPress) else None
        )
        batch = {"actions": [CLICK, {"action": "key_down", "text": "a"}, CLICK], "observe": {}}
        answer = await client.post(f"{URL}/actions", json=batch)
        assert answer.status_code == 200
        body = answer.json()
        assert body["results"][1]["error"]["message"] == "Key down failed."
        assert body["results"][2] == {"skipped": True}
        assert "screenshot_data" in body

    run(scenario)


@pytest.mark.parametrize("route", ["action", "actions"])
@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'{"x": NaN}', b"\xff\xfe"])
def test_a_body_that_is_no_json_starts_nothing(route: str, body: bytes) -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        answer = await client.post(f"{URL}/{route}", content=body)
        assert answer.status_code == 400
        assert answer.json()["message"] == "Failed to decode request body."
        assert service.records == []
        assert service.computer.last_activity is None

    run(scenario)


@pytest.mark.parametrize(
    ("route", "request_body", "message"),
    [
        ("action", {"action": "left_click"}, 'Missing "coordinate" for left_click action.'),
        ("action", {"action": "dance"}, "Unknown action: dance"),
        ("action", {**CLICK, "scaled_width": 800}, 'Give both "scaled_width" and "scaled_height"'),
        ("actions", {"actions": [CLICK, {"action": "dance"}]}, "Unknown action: dance"),
    ],
)
def test_a_wrong_request_does_nothing(
    route: str, request_body: dict[str, Any], message: str
) -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        answer = await client.post(f"{URL}/{route}", json=request_body)
        assert answer.status_code == 400
        assert answer.json()["message"].startswith(message)
        assert service.input.done == []

    run(scenario)


@pytest.mark.parametrize("name", ["x" * 201, "a\tb"])
def test_a_tool_call_id_is_printable_and_short(name: str) -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        headers = {"Deskhand-Tool-Call-Id": name}
        answer = await client.post(f"{URL}/action", json=CLICK, headers=headers)
        assert answer.status_code == 400
        assert service.input.done == []

    run(scenario)


def test_a_failure_is_reported_with_its_detail() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        service.input.refuse = lambda _: UntypableText("語")
        answer = await client.post(f"{URL}/action", json={"action": "type", "text": "語"})
        assert answer.status_code == 500
        assert answer.json()["message"] == "Type action failed."
        assert "語" in answer.json()["detail"]

    run(scenario)


def test_a_lost_display_is_a_503() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        service.screen.broken = DisplayGone(":7")
        for answer in (
            await client.get(f"{URL}/screenshot"),
            await client.post(f"{URL}/action", json=CLICK),
            await client.post(f"{URL}/actions", json={"actions": [CLICK], "observe": True}),
        ):
            assert answer.status_code == 503
            assert answer.json()["detail"] == "display :7 is gone"
            assert answer.headers["retry-after"] == "1"

    run(scenario)


def test_a_full_queue_is_a_429() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        service.input.gate = threading.Event()
        tasks = [asyncio.create_task(client.post(f"{URL}/action", json=CLICK)) for _ in range(4)]
        done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert [task.result().status_code for task in done] == [429]
        service.input.gate.set()
        assert {answer.status_code for answer in await asyncio.gather(*waiting)} == {200}

    run(scenario)


def test_all_input_is_released_when_the_caller_disconnects() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        hold = {"action": "hold_key", "text": "a", "duration": 100}
        holding = asyncio.create_task(client.post(f"{URL}/action", json=hold))
        await service.sleeping.wait()
        assert service.input.done == [KeyPress(ord("a"))]
        holding.cancel()
        await service.woken.wait()
        answer = await client.post(f"{URL}/action", json={"action": "cursor_position"})
        assert answer.json()["output"] == "x=7,y=13"
        assert service.input.releases == 1
        assert service.records[0].error == "cancelled"

    run(scenario)


def test_a_waiting_caller_gets_an_error_when_the_service_ends() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        hold = {"action": "hold_key", "text": "a", "duration": 100}
        holding = asyncio.create_task(client.post(f"{URL}/action", json=hold))
        await service.sleeping.wait()
        service.closing.set()
        for answer in (await holding, await client.post(f"{URL}/action", json=CLICK)):
            assert answer.status_code == 503
            assert answer.json()["message"] == "Desktop API is shutting down."
        assert service.input.releases == 1
        assert service.input.done == [KeyPress(ord("a"))]

    run(scenario)


def test_openapi_describes_every_action() -> None:
    service = Service()
    document = service.app.openapi()
    assert json.dumps(document)
    body = document["paths"][f"{URL}/action"]["post"]["requestBody"]
    variants = body["content"]["application/json"]["schema"]["oneOf"]
    assert "left_click_drag" in [variant["properties"]["action"]["const"] for variant in variants]
    parameters = document["paths"][f"{URL}/screenshot"]["get"]["parameters"]
    assert {"region", "since", "format"} < {parameter["name"] for parameter in parameters}
    asyncio.run(service.computer.close())
