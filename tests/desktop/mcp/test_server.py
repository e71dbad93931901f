"""The adapter, called by the SDK's own client in both eras of the protocol."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from deskhand.desktop.mcp.ports import McpCaller
from deskhand.desktop.mcp.server import McpServer
from deskhand.desktop.mcp.tool import McpImage, McpResult
from tests.desktop.mcp.fakes import FakeCalls

Json = dict[str, Any]
OLD, NEW = "legacy", "auto"
PATIENCE = 20.0
both_eras = pytest.mark.parametrize("era", [OLD, NEW])


class Served:
    """A server over HTTP in this process, without access control."""

    def __init__(self, **times: float) -> None:
        self.calls = FakeCalls()
        self.server = McpServer(self._caller, "1.0", **times)
        self.on_progress: Callable[[], None] = lambda: None

    def _caller(self, request: Request | None) -> McpCaller:
        assert request is not None
        return McpCaller(request.headers.get("authorization", ""), self.calls)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def watched(message: Message) -> None:
            await send(message)
            if b"notifications/progress" in message.get("body", b""):
                self.on_progress()

        await self.server.serve_http(scope, receive, watched)

    def http(self, token: str = "a") -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(app=self.app)
        headers = {"Authorization": token}
        return httpx2.AsyncClient(transport=transport, base_url="http://here", headers=headers)

    @asynccontextmanager
    async def client(self, era: str, **options: Any) -> AsyncIterator[Client]:
        async with self.http() as http:
            connected = streamable_http_client("http://here/mcp", http_client=http)
            async with Client(connected, mode=era, **options) as client:
                yield client

    async def rpc(self, method: str, params: Json, **headers: str) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        async with self.http() as http:
            return await http.post("/mcp", json=body, headers=headers)


def run(scenario: Callable[[Served], Awaitable[None]], **times: float) -> None:
    async def scenario_of_its_own() -> None:
        await scenario(Served(**times))

    asyncio.run(scenario_of_its_own())


@pytest.mark.parametrize(("era", "version"), [(OLD, "2025-11-25"), (NEW, "2026-07-28")])
def test_both_eras_list_the_tools_and_the_instructions(era: str, version: str) -> None:
    async def scenario(served: Served) -> None:
        async with served.client(era) as client:
            listed = await client.list_tools()
            assert client.protocol_version == version
            assert client.instructions == "Begin with computer_look."
        assert [tool.name for tool in listed.tools] == [t.name for t in served.calls.tools()]
        for tool in listed.tools:
            assert tool.title
            assert tool.annotations is not None
            assert None not in tool.annotations.model_dump(exclude={"title"}).values()

    run(scenario)


@both_eras
def test_a_result_has_text_image_and_structured_content(era: str) -> None:
    async def scenario(served: Served) -> None:
        served.calls.result = McpResult("Seen.", {"frame_id": "f"}, McpImage(b"png", "image/png"))
        async with served.client(era) as client:
            found = await client.call_tool("computer_look", {"region": [0, 0, 1, 1]})
        text, image = found.content
        assert isinstance(text, types.TextContent)
        assert isinstance(image, types.ImageContent)
        assert (text.text, image.data, image.mime_type) == ("Seen.", "cG5n", "image/png")
        assert found.structured_content == {"frame_id": "f"}
        assert not found.is_error
        assert served.calls.calls == [("computer_look", {"region": [0, 0, 1, 1]})]

    run(scenario)


@both_eras
def test_a_failed_call_is_a_result_and_an_unknown_tool_a_protocol_error(era: str) -> None:
    async def scenario(served: Served) -> None:
        served.calls.result = McpResult("It failed.", {}, is_error=True)
        async with served.client(era) as client:
            assert (await client.call_tool("read_file", {})).is_error
            with pytest.raises(MCPError, match="Unknown tool: nonsense"):
                await client.call_tool("nonsense", {})

    run(scenario)


@both_eras
def test_resources_and_the_prompt_are_served(era: str) -> None:
    async def scenario(served: Served) -> None:
        async with served.client(era) as client:
            (resource,) = (await client.list_resources()).resources
            (found,) = (await client.read_resource(resource.uri)).contents
            assert isinstance(found, types.TextResourceContents)
            assert found.text == "steps"
            with pytest.raises(MCPError, match="no such resource"):
                await client.read_resource("deskhand://nothing")
            (template,) = (await client.list_resource_templates()).resource_templates
            assert template.uri_template == "deskhand://recordings/{id}"
            (prompt,) = (await client.list_prompts()).prompts
            message = (await client.get_prompt(prompt.name, {"task": "Buy milk"})).messages[0]
            assert isinstance(message.content, types.TextContent)
            assert "Buy milk" in message.content.text
            with pytest.raises(MCPError, match="Unknown prompt"):
                await client.get_prompt("nothing")

    run(scenario)


def test_the_protocol_of_2025_is_served_without_a_session() -> None:
    async def scenario(served: Served) -> None:
        info = {"name": "test", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
        begun = await served.rpc("initialize", params)
        assert begun.status_code == 200
        assert "mcp-session-id" not in begun.headers
        answer = _message(begun)["result"]
        assert answer["protocolVersion"] == "2025-06-18"
        assert answer["instructions"] == "Begin with computer_look."
        headers = {"MCP-Protocol-Version": "2025-06-18"}
        listed = await served.rpc("tools/list", {}, **headers)
        assert len(_message(listed)["result"]["tools"]) == len(served.calls.tools())
        called = await served.rpc("tools/call", {"name": "read_file", "arguments": {}}, **headers)
        assert _message(called)["result"]["content"] == [{"type": "text", "text": "done"}]

    run(scenario)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream", "*/*", ""])
def test_a_client_may_accept_one_type_only(accept: str) -> None:
    async def scenario(served: Served) -> None:
        headers = {"MCP-Protocol-Version": "2025-06-18", "Accept": accept}
        answer = await served.rpc("tools/list", {}, **headers)
        assert answer.status_code == 200
        assert _message(answer)["result"]["tools"]
        if accept == "application/json":
            assert answer.headers["content-type"].startswith("application/json")

    run(scenario)


@both_eras
def test_cancelling_stops_the_wait(era: str) -> None:
    async def scenario(served: Served) -> None:
        async with served.client(era) as client:
            call = asyncio.create_task(client.call_tool("execute", {"command": "make"}))
            await served.calls.begun.get()
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            await served.calls.cancelled.wait()

    run(scenario)


def test_a_cancellation_that_may_mean_two_calls_stops_none() -> None:
    async def scenario(served: Served) -> None:
        headers = {"MCP-Protocol-Version": "2025-06-18"}
        params = {"name": "execute", "arguments": {}}
        calls = [asyncio.create_task(served.rpc("tools/call", params, **headers)) for _ in range(2)]
        for _ in calls:
            await served.calls.begun.get()
        body = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        async with served.http() as http:
            assert (await http.post("/mcp", json=body, headers=headers)).status_code == 202
        served.calls.woken.set()
        for answer in await asyncio.gather(*calls):
            assert _message(answer)["result"]["content"][0]["text"] == "done"

    run(scenario)


@both_eras
def test_progress_is_reported_while_a_call_waits(era: str) -> None:
    async def scenario(served: Served) -> None:
        # An answer in this process comes as a whole, with the reports before the result. So the
        # server decides the end of the call, and the client may handle a report after the result.
        served.on_progress = served.calls.woken.set
        reports: asyncio.Queue[str | None] = asyncio.Queue()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            reports.put_nowait(message)

        async with served.client(era) as client:
            await client.call_tool("execute", {"command": "x"}, progress_callback=report)
            async with asyncio.timeout(PATIENCE):
                first = await reports.get()
        assert first is not None
        assert first.startswith("Working for ")

    run(scenario, progress=0.01)


def test_every_call_is_answered_in_time() -> None:
    async def scenario(served: Served) -> None:
        async with served.client(NEW) as client:
            found = await client.call_tool("execute", {"command": "x"})
        assert found.is_error
        assert isinstance(found.content[0], types.TextContent)
        assert found.content[0].text.startswith("No answer within 0.01 s; what was begun goes on.")

    run(scenario, longest_call=0.01)


def test_a_question_is_asked_by_the_host_and_answered_once() -> None:
    async def scenario(served: Served) -> None:
        asked: list[str] = []

        async def ask(context: Any, params: Any) -> types.ElicitResult:
            asked.append(params.message)
            return types.ElicitResult(action="accept", content={"answer": " Ann "})

        async with served.client(NEW, elicitation_callback=ask) as client:
            found = await client.call_tool("recording", {"chat_id": "c1"})
        assert asked == ["Who are you?"]
        assert served.calls.answers == [("c1", "Ann")]
        assert isinstance(found.content[0], types.TextContent)
        assert found.content[0].text == "done"

    run(scenario)


def test_a_person_who_declines_is_not_asked_again() -> None:
    async def scenario(served: Served) -> None:
        asked: list[str] = []

        async def ask(context: Any, params: Any) -> types.ElicitResult:
            asked.append(params.message)
            return types.ElicitResult(action="decline")

        async with served.client(NEW, elicitation_callback=ask) as client:
            found = await client.call_tool("recording", {"chat_id": "c1"})
        assert asked == ["Who are you?"]
        assert isinstance(found.content[0], types.TextContent)
        assert found.content[0].text == "asks"

    run(scenario)


def test_only_an_agent_that_the_call_names_is_answered() -> None:
    async def scenario(served: Served) -> None:
        async def ask(context: Any, params: Any) -> types.ElicitResult:
            return types.ElicitResult(action="accept", content={"answer": "Ann"})

        async with served.client(NEW, elicitation_callback=ask) as client:
            await client.call_tool("recording", {"chat_id": "another"})
        assert served.calls.answers == []

    run(scenario)


def test_an_answer_that_comes_too_late_is_reported() -> None:
    async def scenario(served: Served) -> None:
        async def ask(context: Any, params: Any) -> types.ElicitResult:
            return types.ElicitResult(action="accept", content={"answer": "refuse"})

        async with served.client(NEW, elicitation_callback=ask) as client:
            found = await client.call_tool("recording", {"chat_id": "c1"})
        assert found.is_error
        assert isinstance(found.content[0], types.TextContent)
        assert found.content[0].text == "there is no question any more."

    run(scenario)


@both_eras
def test_a_host_that_cannot_ask_gets_the_question_as_a_result(era: str) -> None:
    async def scenario(served: Served) -> None:
        async with served.client(era) as client:
            found = await client.call_tool("recording", {"chat_id": "c1"})
        assert isinstance(found.content[0], types.TextContent)
        assert found.content[0].text == "asks"

    run(scenario)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (types.ElicitResult(action="accept", content={"answer": "Ann"}), "done"),
        (types.ElicitResult(action="cancel"), "asks"),
    ],
)
def test_over_one_connection_the_host_is_asked_during_the_call(
    reply: types.ElicitResult, text: str
) -> None:
    async def scenario() -> None:
        calls = FakeCalls()
        served = McpServer(lambda _: McpCaller("me", calls), "1.0")

        async def ask(context: Any, params: Any) -> types.ElicitResult:
            return reply

        async with Client(served.in_process, mode="legacy", elicitation_callback=ask) as client:
            found = await client.call_tool("recording", {"chat_id": "c1"})
        assert isinstance(found.content[0], types.TextContent)
        assert found.content[0].text == text

    asyncio.run(scenario())


def _message(answer: httpx2.Response) -> Json:
    """The message of an answer, which may be an event stream."""
    if not answer.headers["content-type"].startswith("text/event-stream"):
        found: Json = answer.json()
        return found
    data = [line for line in answer.text.splitlines() if line.startswith("data:")]
    message: Json = json.loads(data[-1].removeprefix("data:"))
    return message
