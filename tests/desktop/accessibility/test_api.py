"""The route's answers that need no application."""

import asyncio
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from deskhand.desktop.accessibility.api import AccessibilityService, router
from deskhand.desktop.errors import HumanInControl
from deskhand.desktop.geometry import Size
from deskhand.desktop.lease.access import UnrestrictedAccess


class Private(UnrestrictedAccess):
    """Where a person has the screen in private."""

    def check_view(self) -> None:
        raise HumanInControl("a person")


@pytest.mark.parametrize(
    ("floor", "status", "said"),
    [(UnrestrictedAccess(), 501, "no message bus"), (Private(), 409, "a person")],
)
def test_a_tree_that_cannot_be_had_is_refused_with_the_reason(
    tmp_path: Path, floor: UnrestrictedAccess, status: int, said: str
) -> None:
    async def scenario() -> None:
        app = FastAPI()
        app.include_router(router(AccessibilityService(lambda: {}, Size(9, 9), tmp_path), floor))
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://desktop") as http:
            answer = await http.get("/api/v0/desktop/accessibility")
        assert answer.status_code == status
        assert said in answer.text

    asyncio.run(scenario())
