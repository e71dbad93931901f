import asyncio

import httpx2
import pytest
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from deskhand.tools.conversation.views import ChatView
from deskhand.tools.run_list.api import router
from deskhand.tools.run_list.run_filter import RunFilter
from deskhand.vncbridge.auth.policy import Principal
from tests.tools.run_list.fakes import FakeRuns

OWNER = Principal("owner")
RUNS = [
    ChatView(f"r{n}", f"Run {n}", "waiting", "computer_use", None, None, f"r{n}", None, 1.0, 1.0)
    for n in range(3)
]


def answers(*queries: str, principal: Principal = OWNER) -> tuple[list[httpx2.Response], FakeRuns]:
    runs = FakeRuns(RUNS)
    app = FastAPI()
    app.include_router(router(runs))

    async def signed_in(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {"principal": principal}
        await app(scope, receive, send)

    async def scenario() -> list[httpx2.Response]:
        transport = httpx2.ASGITransport(signed_in)
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
            return [await client.get(f"/api/v0/runs{query}") for query in queries]

    return asyncio.run(scenario()), runs


def test_a_page_names_the_cursor_of_the_next_one() -> None:
    (first, second), _ = answers("?limit=2", "?limit=2&cursor=r1")
    assert [chat["id"] for chat in first.json()["chats"]] == ["r0", "r1"]
    assert first.json()["next_cursor"] == "r1"
    assert [chat["id"] for chat in second.json()["chats"]] == ["r2"]
    assert second.json()["next_cursor"] is None


def test_all_parameters_reach_the_filter() -> None:
    query = "?q=order+lamps&outcome=done&model=m&needs_person=true&recorded=true&since=1&until=2"
    _, runs = answers(query, "?pinned=true&person=p2&families=true")
    assert runs.asked == [
        (RunFilter(("order", "lamps"), "done", "m", True, True, 1.0, 2.0), None),
        (RunFilter(pinned=True, owner="person:p2", families=True), None),
    ]


@pytest.mark.parametrize("query", ["?limit=0", "?limit=101", "?since=x", f"?q={'x' * 201}"])
def test_wrong_parameters_are_refused(query: str) -> None:
    ((answer,), runs) = answers(query)
    assert answer.status_code == 422
    assert runs.asked == []


def test_people_who_are_no_owners_are_listed_what_they_may_see() -> None:
    ada = Principal("Ada", ("role:member",), person="p1")
    boss = Principal("Bea", person="p2")
    _, limited = answers("", principal=ada)
    _, whole = answers("", principal=boss)
    assert [wanted.seen_by for wanted, _ in (*limited.asked, *whole.asked)] == ["p1", ""]
