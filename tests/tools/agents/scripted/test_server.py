import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from deskhand.tools.agents.scripted.script.decode import RgbDecoder, decoded_here
from deskhand.tools.agents.scripted.script.script import Script, read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from deskhand.tools.decoder.errors import NotDecodable
from tests.tools.agents.loop.fakes import encoded, screen

Json = dict[str, Any]
BODY: Json = {
    "model": "test",
    "max_tokens": 10,
    "messages": [{"role": "user", "content": "Go."}],
}
HELLO = read_script("test", {"steps": [{"say": "Hello."}]})
Post = Callable[..., Awaitable[httpx2.Response]]


def serve(
    scenario: Callable[[ScriptedModelServer, Post], Awaitable[None]],
    *scripts: Script,
    log_file: Path | None = None,
    pixels: RgbDecoder = decoded_here,
) -> None:
    async def main() -> None:
        async with (
            ScriptedModelServer(scripts or (HELLO,), log_file=log_file, pixels=pixels) as server,
            httpx2.AsyncClient(trust_env=False, timeout=20) as client,
        ):

            async def post(body: object = BODY, **headers: str) -> httpx2.Response:
                given = {"x-api-key": server.api_key, "anthropic-version": "2023-06-01"}
                wanted = {k: v for k, v in {**given, **headers}.items() if v}
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                url = f"{server.url}/v1/messages"
                return await client.post(url, content=content, headers=wanted)

            await scenario(server, post)

    asyncio.run(main())


def error_type(response: httpx2.Response) -> str:
    body = response.json()
    assert body["type"] == "error"
    assert body["error"]["message"]
    return str(body["error"]["type"])


def test_without_streaming_the_message_comes_in_one_piece() -> None:
    async def scenario(server: ScriptedModelServer, post: Post) -> None:
        response = await post()
        assert response.status_code == 200
        assert response.json()["content"] == [{"type": "text", "text": "Hello."}]

    serve(scenario)


def test_the_prefix_of_scripted_models_may_stand_before_the_name() -> None:
    async def scenario(server: ScriptedModelServer, post: Post) -> None:
        assert (await post({**BODY, "model": "scripted:test"})).status_code == 200

    serve(scenario)


def test_packaged_and_additional_scripts_are_known_by_name() -> None:
    async def scenario(server: ScriptedModelServer, post: Post) -> None:
        assert set(server.names) >= {"demo-parent", "demo-child", "tour", "test"}
        response = await post({**BODY, "model": "other"})
        assert (response.status_code, error_type(response)) == (404, "not_found_error")
        assert "demo-child" in response.json()["error"]["message"]

    serve(scenario)


@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({"x-api-key": ""}, 401, "authentication_error"),
        ({"x-api-key": "nearly"}, 401, "authentication_error"),
        ({"anthropic-version": ""}, 400, "invalid_request_error"),
    ],
)
def test_key_and_version_are_demanded(headers: dict[str, str], status: int, kind: str) -> None:
    async def scenario(server: ScriptedModelServer, post: Post) -> None:
        response = await post(**headers)
        assert (response.status_code, error_type(response)) == (status, kind)
        assert server.log[-1].status == status

    serve(scenario)


def test_a_bearer_token_is_as_good_as_the_key_header() -> None:
    async def scenario(server: ScriptedModelServer, post: Post) -> None:
        bearer = {"x-api-key": "", "authorization": f"Bearer {server.api_key}"}
        assert (await post(**bearer)).status_code == 200

    serve(scenario)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b"3"])
def test_what_is_no_request_is_a_bad_request(body: bytes) -> None:
    async def scenario(server: ScriptedModelServer, post: Post) -> None:
        response = await post(body)
        assert (response.status_code, error_type(response)) == (400, "invalid_request_error")

    serve(scenario)


def test_the_path_of_an_error_is_named_and_logged() -> None:
    async def scenario(server: ScriptedModelServer, post: Post) -> None:
        response = await post({**BODY, "mesages": []})
        assert response.json()["error"]["message"].startswith("request.mesages: ")
        assert (server.log[-1].error or "").startswith("request.mesages: ")

    serve(scenario)


def test_faults_occur_as_often_as_the_script_wants_for_each_request() -> None:
    fault = {"kind": "rate_limit", "times": 2}
    script = read_script("test", {"steps": [{"say": "At last.", "fault": fault}]})

    async def scenario(server: ScriptedModelServer, post: Post) -> None:
        assert [(await post()).status_code for _ in range(3)] == [429, 429, 200]
        other = {**BODY, "max_tokens": 11}
        assert [(await post(other)).status_code for _ in range(3)] == [429, 429, 200]

    serve(scenario, script)


def test_a_cut_stream_ends_without_its_end() -> None:
    script = read_script("test", {"steps": [{"say": "Hello.", "fault": {"kind": "cut"}}]})

    async def scenario(server: ScriptedModelServer, post: Post) -> None:
        with pytest.raises(httpx2.RemoteProtocolError):
            await post({**BODY, "stream": True})

    serve(scenario, script)


def test_requests_are_written_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"

    async def scenario(server: ScriptedModelServer, post: Post) -> None:
        await post()
        await post(b"{")

    serve(scenario, log_file=path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["status"] for line in lines] == [200, 400]


def test_a_picture_that_cannot_be_decoded_is_refused() -> None:
    def refuse(_: bytes) -> tuple[int, int, bytes]:
        raise NotDecodable("its decoding took too much time or memory")

    async def scenario(server: ScriptedModelServer, post: Post) -> None:
        data = base64.b64encode(encoded(screen(size=(40, 30)))).decode()
        source = {"type": "base64", "media_type": "image/png", "data": data}
        content = [{"type": "image", "source": source}, {"type": "text", "text": "Go."}]
        response = await post({**BODY, "messages": [{"role": "user", "content": content}]})
        assert (response.status_code, error_type(response)) == (422, "invalid_request_error")
        # The control: the same server answers a request without a picture.
        assert (await post({**BODY, "model": "tour"})).status_code == 200

    click = {"computer.left_click": {"coordinate": {"blob": "#e6194b"}}}
    serve(scenario, read_script("test", {"steps": [{"calls": [click]}]}), pixels=refuse)


def test_closing_does_not_wait_for_an_answer_that_is_held_back() -> None:
    slow = {"steps": [{"say": "x", "fault": {"kind": "slow", "seconds": 600}}]}

    async def main() -> None:
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
            async with ScriptedModelServer([read_script("test", slow)]) as server:
                headers = {"x-api-key": server.api_key, "anthropic-version": "1"}
                url = f"{server.url}/v1/messages"
                pending = asyncio.create_task(client.post(url, json=BODY, headers=headers))
                async with asyncio.timeout(20):
                    await server.received(1)
            assert (await pending).status_code == 200

    asyncio.run(main())
