import asyncio

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from deskhand.vncbridge.rfb.no_live_view import router
from tests.vncbridge.fakes import Service


def test_every_request_for_a_live_view_is_refused() -> None:
    async def asked() -> None:
        async with Service(router("It has no live view.")) as service:
            with pytest.raises(InvalidStatus) as refused:
                await connect(service.stream, proxy=None)
            assert refused.value.response.status_code == 409
            assert b"It has no live view." in refused.value.response.body
            async with httpx2.AsyncClient() as http:
                answer = await http.get(service.stream.replace("ws:", "http:"))
            assert answer.status_code == 409
            assert "no live view" in answer.text

    asyncio.run(asked())
