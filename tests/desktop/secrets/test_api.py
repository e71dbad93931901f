import asyncio

import httpx2
from fastapi import FastAPI

from deskhand.desktop.secrets.api import router
from deskhand.desktop.secrets.redaction import MASK, SecretRedactor

SECRETS = "/api/v0/desktop/secrets"


def test_values_come_in_and_only_their_number_goes_out() -> None:
    async def scenario() -> None:
        mask, app = SecretRedactor(), FastAPI()
        app.include_router(router(mask))
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://here") as client:
            assert (await client.get(SECRETS)).json() == {"count": 0}
            added = await client.post(SECRETS, json={"values": ["hunter2", "letmein"]})
            assert (added.status_code, added.json()) == (200, {"count": 2})
            assert mask("hunter2") == MASK
            short = await client.post(SECRETS, json={"values": ["abc"]})
            assert short.status_code == 400
            assert short.json()["detail"]["message"] == "These secrets cannot be hidden."
            assert "abc" not in short.text
            assert (await client.post(SECRETS, json={"value": ["hunter3"]})).status_code == 422
            assert (await client.delete(SECRETS)).status_code == 204
            assert (await client.get(SECRETS)).json() == {"count": 0}

    asyncio.run(scenario())
