import asyncio
import json
from typing import Any

import httpx2
from fastapi import FastAPI
from websockets.asyncio.client import connect

from deskhand.desktop.lease.access import control_key
from deskhand.desktop.lease.api import PATH, may_force, router
from deskhand.desktop.lease.handover import LeaseEffects
from deskhand.desktop.lease.lease import Person
from deskhand.desktop.lease.privacy import PrivacyMode
from deskhand.desktop.lease.runtime import LeaseRuntime
from deskhand.vncbridge.auth.policy import Principal
from tests.vncbridge.fakes import LIMIT, Service

CHAT = {"Deskhand-Chat-Id": "one"}


def asked(*calls: tuple[str, Any], scopes: tuple[str, ...] = ("admin",)) -> list[httpx2.Response]:
    """Make calls, each a method and its options, and return the answers."""

    async def scenario() -> list[httpx2.Response]:
        leasing = LeaseRuntime()
        app = FastAPI()
        app.include_router(router(leasing, lambda: 3, may_force))

        async def bordered(scope: Any, receive: Any, send: Any) -> None:
            scope["state"] = {"principal": Principal("owner", scopes)}
            await app(scope, receive, send)

        transport = httpx2.ASGITransport(bordered)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return [await client.request(method, PATH, **options) for method, options in calls]

    return asyncio.run(scenario())


def take(name: str, **more: Any) -> tuple[str, Any]:
    return "POST", {"json": {"action": "take", "name": name, **more}}


def test_taking_and_giving_back_by_name() -> None:
    taken, other, back, state = asked(
        take("Ann"),
        ("POST", {"json": {"action": "release", "name": "Bob"}}),
        ("POST", {"json": {"action": "release", "name": " Ann "}}),
        ("GET", {}),
    )
    assert taken.json()["granted"] is True
    assert taken.json()["holder"]["name"] == "Ann"
    assert taken.json()["watchers"] == 3
    assert other.status_code == 409
    assert other.json()["detail"]["message"] == "You are not in control."
    assert back.json()["holder"] == {"kind": "nobody"}
    assert state.json()["last"]["name"] == "Ann"


def test_who_has_signed_in_acts_under_no_other_name() -> None:
    headers = {"Deskhand-Person": "Zo%C3%AB"}
    call = {"json": {"action": "take", "name": "Bob"}, "headers": headers}
    taken, other, ended = asked(
        ("POST", call),
        ("DELETE", {"params": {"name": "Bob"}}),
        ("DELETE", {"params": {"name": "Bob"}, "headers": headers}),
        scopes=("desktop:d1:control",),
    )
    assert taken.json()["holder"]["name"] == "Zo\u00eb"
    assert other.status_code == 403
    assert ended.status_code == 200


def test_one_name_on_two_pages_is_two() -> None:
    first, second, kept = asked(
        take("Ann", viewer="one"),
        take("Ann", viewer="two"),
        ("POST", {"json": {"action": "renew", "viewer": "one"}}),
    )
    assert first.json()["granted"] is True
    assert second.json()["granted"] is False
    assert second.json()["asked"]["name"] == "Ann"
    assert kept.json()["asked"] is None
    assert control_key("Ann", None) == "name:Ann"


def test_wrong_bodies_are_refused() -> None:
    answers = asked(
        ("POST", {"json": {"action": "take"}}),
        ("POST", {"json": {"action": "grab", "name": "Ann"}}),
        ("POST", {"json": {"action": "take", "name": "Ann", "colour": "red"}}),
        take("\x00"),
        take("x" * 61),
        take("Ann", viewer="a b"),
        ("GET", {"params": {"wait": "61"}}),
    )
    assert [answer.status_code for answer in answers] == [400, *[422] * 6]


def test_only_an_administrator_forces() -> None:
    calls: tuple[tuple[str, Any], ...] = (
        take("Ann"),
        take("Bob", force=True),
        ("DELETE", {"params": {"name": "Bob"}}),
        ("DELETE", {}),
    )
    assert [answer.status_code for answer in asked(*calls)] == [200, 200, 200, 200]
    scopes = ("desktop:d:control",)
    assert [answer.status_code for answer in asked(*calls, scopes=scopes)] == [200, 403, 403, 403]
    passed_on = ("DELETE", {"headers": {"Deskhand-Role": "control"}})
    assert [answer.status_code for answer in asked(passed_on)] == [403]


def test_the_holder_of_control_may_end_it() -> None:
    _, ended = asked(
        take("Ann"), ("DELETE", {"params": {"name": "Ann"}}), scopes=("desktop:d:control",)
    )
    assert ended.json()["holder"] == {"kind": "nobody"}


def test_a_chat_gives_back_what_it_has() -> None:
    (answer,) = asked(("POST", {"json": {"action": "release"}, "headers": CHAT}))
    assert answer.status_code == 200


def test_asking_again_with_the_revision_waits_for_a_change_only() -> None:
    state, again = asked(
        ("GET", {"params": {"revision": "5", "wait": "20"}}),
        ("GET", {"params": {"revision": "0", "wait": "0.05"}}),
    )
    assert state.json()["revision"] == again.json()["revision"] == 0


def test_a_page_receives_every_change_and_whether_it_has_control() -> None:
    async def scenario() -> None:
        leasing = LeaseRuntime()
        effects = LeaseEffects(
            privacy=PrivacyMode(),
            selections=lambda: None,
            release_input=lambda: None,
            update_viewers=lambda: None,
            publish=lambda kind, data: None,
            record=lambda session: None,
            note_activity=lambda who: None,
        )
        routes = router(leasing, lambda: 1, may_force)
        with leasing.running(effects):
            async with asyncio.timeout(LIMIT), Service(routes) as service:
                address = f"{service.url.replace('http', 'ws', 1)}{PATH}/watch?viewer=v1"
                async with connect(address) as page:
                    assert json.loads(await page.recv())["you"] is False
                    person = Person("Ann", control_key("Ann", "v1"))
                    leasing.take(person, private=True, take_over_on_timeout=True, force=False)
                    state = json.loads(await page.recv())
                    assert (state["you"], state["holder"]["name"]) == (True, "Ann")
                    leasing.release(person.key)
                    assert json.loads(await page.recv())["you"] is False

    asyncio.run(scenario())
