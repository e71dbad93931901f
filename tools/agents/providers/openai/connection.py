"""Requests through OpenAI's SDK with a body of our own, also to servers of the same protocols."""

from typing import cast

import httpx2
import openai

from deskhand.tools.agents.providers.provider_table import ModelAccount


class Connection:
    """Connections of one account."""

    def __init__(self, account: ModelAccount, silence: float) -> None:
        """Open no connection yet; ``silence`` is the longest pause within an answer, in seconds."""
        self._client = openai.AsyncOpenAI(
            api_key=account.api_key,
            base_url=account.base_url,
            max_retries=0,
            # ``read_reply`` limits an attempt; only connecting has a limit of its own.
            timeout=httpx2.Timeout(silence, connect=10.0),
            http_client=openai.DefaultAsyncHttpxClient(trust_env=not account.is_local),
        )

    async def close(self) -> None:
        """Close the connections that are kept open."""
        await self._client.close()

    async def stream(self, path: str, body: bytes) -> httpx2.Response:
        """Send a request; return the response when its head has come."""
        # The SDK's methods would check and copy every item of the body, with each request again.
        answer: object = await self._client.post(
            path,
            cast_to=httpx2.Response,
            content=body,
            options={"headers": {"Content-Type": "application/json"}},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        # The annotation of ``post`` knows only the SDK's own stream.
        return cast("httpx2.Response", answer)

    async def post(self, path: str, body: bytes) -> bytes:
        """Send a request; return its whole answer."""
        answer = await self._client.post(
            path,
            cast_to=httpx2.Response,
            content=body,
            options={"headers": {"Content-Type": "application/json"}},
        )
        return answer.content


def message_of(error: openai.APIStatusError) -> str:
    """Return the words of the server, without the SDK's frame around them where possible."""
    body = error.body
    given = body.get("message") if isinstance(body, dict) else None
    return str(given or error.message)
