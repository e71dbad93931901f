import asyncio
import base64
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from deskhand.desktop.computer.responder import action_digest
from deskhand.desktop.errors import UntypableText
from deskhand.desktop.geometry import Region
from deskhand.desktop.input.events import ButtonPress, KeyPress
from tests.desktop.serving import Service, serving

LIMIT = 20
UNUSED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
ACTION, ACTIONS = "/api/v0/desktop/action", "/api/v0/desktop/actions"
CLICK: dict[str, Any] = {"action": "left_click", "coordinate": [0, 0]}
CALL = {"Deskhand-Tool-Call-Id": "toolu_01", "Deskhand-Chat-Id": "chat"}

Scenario = Callable[[Service, httpx2.AsyncClient], Awaitable[None]]


@asynccontextmanager
async def visiting(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        service.computer,
        serving(service.app) as address,
        httpx2.AsyncClient(
            base_url=address, verify=UNUSED, trust_env=False, timeout=LIMIT
        ) as client,
    ):
        yield client


def run(scenario: Scenario) -> None:
    async def limited() -> None:
        service = Service()
        async with asyncio.timeout(LIMIT), visiting(service) as client:
            await scenario(service, client)

    asyncio.run(limited())


def presses(service: Service) -> int:
    return sum(isinstance(event, ButtonPress) for event in service.input.done)


def test_a_repeated_call_is_answered_from_the_record() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        first = (await client.post(ACTION, json=CLICK, headers=CALL)).json()
        alias = {"Coder-Tool-Call-Id": "toolu_01", "Coder-Chat-Id": "chat"}
        again = (await client.post(ACTION, json=CLICK, headers=alias)).json()
        assert "replayed" not in first
        assert again == {**first, "replayed": True}
        assert presses(service) == 1
        assert len(service.records) == 1

    run(scenario)


def test_a_repeated_call_shows_what_the_screen_shows_now() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        body = {**CLICK, "observe": {"settle": False}}
        first = (await client.post(ACTION, json=body, headers=CALL)).json()
        service.screen.paint(Region(0, 0, 9, 9))
        again = (await client.post(ACTION, json=body, headers=CALL)).json()
        assert base64.b64decode(first["screenshot_data"]) == b"png 1280x720 of 0"
        assert base64.b64decode(again["screenshot_data"]) == b"png 1280x720 of 1"
        assert again["frame_id"] == "boot-1"
        assert again["changed_fraction"] == first["changed_fraction"]
        assert presses(service) == 1

    run(scenario)


@pytest.mark.parametrize(
    ("body", "picture"),
    [
        ({"action": "screenshot"}, b"png 1280x720 of 1"),
        ({"action": "zoom", "region": [0, 0, 64, 36]}, b"png 1280x720 of 1"),
        ({**CLICK, "observe": {"screenshot": False, "settle": False}}, None),
    ],
)
def test_a_repeated_screenshot_is_a_new_one(body: dict[str, Any], picture: bytes | None) -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        await client.post(ACTION, json=body, headers=CALL)
        service.screen.paint(Region(0, 0, 9, 9))
        again = (await client.post(ACTION, json=body, headers=CALL)).json()
        assert again["replayed"] is True
        data = again.get("screenshot_data")
        assert (data and base64.b64decode(data)) == picture

    run(scenario)


def test_a_repeated_batch_is_not_done_again() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        service.input.refuse = lambda event: (
            UntypableText("x") if isinstance(event, KeyPress) else None
        )
        shot, key = {"action": "screenshot"}, {"action": "key_down", "text": "a"}
        body = {"actions": [CLICK, shot, key, shot], "observe": {"settle": False}}
        first = (await client.post(ACTIONS, json=body, headers=CALL)).json()
        service.screen.paint(Region(0, 0, 9, 9))
        again = (await client.post(ACTIONS, json=body, headers=CALL)).json()
        assert again["replayed"] is True
        assert again["results"][0] == first["results"][0]
        assert again["results"][2:] == first["results"][2:]
        for place in (again, again["results"][1]):
            assert base64.b64decode(place["screenshot_data"]) == b"png 1280x720 of 1"
        assert presses(service) == 1
        unseen = {"actions": [CLICK]}
        for _ in range(2):
            other = {**CALL, "Deskhand-Tool-Call-Id": "toolu_02"}
            plain = (await client.post(ACTIONS, json=unseen, headers=other)).json()
        assert "screenshot_data" not in plain
        assert presses(service) == 2

    run(scenario)


def test_a_failure_is_reported_again_and_not_tried_again() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        service.input.refuse = lambda _: UntypableText("語")
        text = {"action": "type", "text": "語", "observe": True}
        first = await client.post(ACTION, json=text, headers=CALL)
        again = await client.post(ACTION, json=text, headers=CALL)
        assert first.status_code == again.status_code == 500
        assert again.json() == {**first.json(), "replayed": True}
        assert len(service.records) == 1

    run(scenario)


def test_an_id_used_for_something_else_is_a_409() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        await client.post(ACTION, json=CLICK, headers=CALL)
        answer = await client.post(ACTION, json={**CLICK, "coordinate": [1, 1]}, headers=CALL)
        assert answer.status_code == 409
        assert answer.json()["code"] == "input_mismatch"
        assert presses(service) == 1

    run(scenario)


def test_a_wrong_request_does_not_use_up_its_id() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        wrong = await client.post(ACTION, json={"action": "dance"}, headers=CALL)
        assert wrong.status_code == 400
        right = await client.post(ACTION, json=CLICK, headers=CALL)
        assert right.status_code == 200
        assert "replayed" not in right.json()

    run(scenario)


def test_a_repetition_waits_for_the_call_under_way() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        service.input.gate = threading.Event()
        first = asyncio.create_task(client.post(ACTION, json=CLICK, headers=CALL))
        await service.input.busy()
        again = asyncio.create_task(client.post(ACTION, json=CLICK, headers=CALL))
        service.input.gate.set()
        replayed = [answer.json().get("replayed") for answer in await asyncio.gather(first, again)]
        assert replayed == [None, True]
        assert presses(service) == 1

    run(scenario)


def test_a_call_sent_to_another_instance_before_is_not_done_here() -> None:
    async def scenario(service: Service, client: httpx2.AsyncClient) -> None:
        stale = {**CALL, "Deskhand-Instance": "its predecessor"}
        answer = await client.post(ACTION, json=CLICK, headers=stale)
        assert answer.status_code == 409
        assert answer.json()["code"] == "outcome_unknown"
        assert presses(service) == 0
        right = {**CALL, "Deskhand-Instance": "instance"}
        assert (await client.post(ACTION, json=CLICK, headers=right)).status_code == 200
        known = await client.post(ACTION, json=CLICK, headers=stale)
        assert known.json()["replayed"] is True

    run(scenario)


def test_a_call_open_when_the_service_died_is_not_done_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        hold = {"action": "hold_key", "text": "a", "duration": 100}
        file = tmp_path / "calls.jsonl"
        first = Service(file)
        async with asyncio.timeout(LIMIT), visiting(first) as client:
            done = {**CALL, "Deskhand-Tool-Call-Id": "toolu_02"}
            await client.post(ACTION, json=CLICK, headers=done)
            holding = asyncio.create_task(client.post(ACTION, json=hold, headers=CALL))
            await first.sleeping.wait()
            second = Service(file, "successor")
            async with visiting(second) as other:
                answer = await other.post(ACTION, json=hold, headers=CALL)
                assert answer.status_code == 409
                assert answer.json()["code"] == "outcome_unknown"
                again = (await other.post(ACTION, json=CLICK, headers=done)).json()
                assert again["replayed"] is True
                assert again["instance_id"] == "instance"
                assert second.input.done == []
            holding.cancel()
            await asyncio.gather(holding, return_exceptions=True)

    asyncio.run(scenario())


def test_the_order_of_fields_and_the_known_frame_do_not_make_another_input() -> None:
    one: dict[str, Any] = {"action": "key", "text": "a", "observe": {"since": "b-1"}}
    two: dict[str, Any] = {"observe": {"since": "b-2"}, "text": "a", "action": "key"}
    assert action_digest("/action", one) == action_digest("/action", two)
    assert action_digest("/action", one) != action_digest("/action", {**one, "text": "b"})
    assert action_digest("/action", one) != action_digest("/actions", one)
    assert action_digest("/action", {"observe": True}) != action_digest("/action", {"observe": {}})
