"""Single requests to the browser over its debugging pipe, and the wait for their answers."""

import asyncio
from contextlib import suppress
from typing import Any

from deskhand.desktop.browser.debugging_pipe import PipeClient
from deskhand.desktop.browser.first_page import FirstPage

from .errors import BrowserGone, CdpFailed

Json = dict[str, Any]

ANSWER_SECONDS = 20.0
FIRST_PAGE_SECONDS = 5.0
"""Limit for a browser without a page, which clients may use too."""


async def answer_of(client: PipeClient, method: str, parameters: Json | None = None) -> Json:
    """Send one request and return its result; other messages until then are dropped.

    Raises:
        CdpFailed: If the browser answers with an error.
        BrowserGone: If it ends, or does not answer.
    """
    client.send({"id": 0, "method": method, "params": parameters or {}})
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            async for message in client.messages():
                if message.get("id") != 0:
                    continue
                if "error" in message:
                    raise CdpFailed(str(message["error"].get("message", "")))
                result: Json = message.get("result", {})
                return result
    except TimeoutError:
        raise BrowserGone("the browser does not answer") from None
    raise BrowserGone("the browser has ended")


async def first_page_shown(client: PipeClient) -> None:
    """Wait until the first page of a browser shows a document, at most `FIRST_PAGE_SECONDS`."""
    page = FirstPage()
    client.send(page.begin())
    with suppress(TimeoutError):
        async with asyncio.timeout(FIRST_PAGE_SECONDS):
            async for message in client.messages():
                for request in page.received(message):
                    client.send(request)
                if page.shown:
                    return
