"""The route's answers that need no application."""

import asyncio
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from deskhand.desktop.accessibility.api import AccessibilityService, router
from deskhand.desktop.errors import HumanInControl, InvalidAction
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
            for path in ("", "/text"):
                answer = await http.get(f"/api/v0/desktop/accessibility{path}")
                assert answer.status_code == status
                assert said in answer.text

    asyncio.run(scenario())


def test_a_page_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    shown = AccessibilityService(lambda: {}, Size(9, 9), tmp_path)
    with pytest.raises(InvalidAction, match="offset: there are 0 lines"):
        shown.read_text(interactive=False, offset=1)
