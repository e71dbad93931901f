"""The machine tools against a real process and file core."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from deskhand.tools.kit.edit_files import EditFilesTool
from deskhand.tools.kit.execute import ExecuteTool
from deskhand.tools.kit.process_list import ProcessListTool
from deskhand.tools.kit.process_output import ProcessOutputTool
from deskhand.tools.kit.process_signal import ProcessSignalTool
from deskhand.tools.kit.read_file import ReadFileTool
from deskhand.tools.kit.support.spec import (
    Json,
    MachineRefused,
    MachineUnavailable,
    Tool,
    ToolContext,
    ToolOutcome,
)
from deskhand.tools.kit.write_file import WriteFileTool
from tests.desktop.processes.service import LIMIT, Service, running


class HttpMachine:
    """A machine over HTTP that may lose answers on their way back."""

    def __init__(self, socket: Path, chat: str, call: str) -> None:
        self.socket = socket
        self.headers = {"Deskhand-Chat-Id": chat, "Deskhand-Tool-Call-Id": call}
        self.to_lose = 0

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Any:
        transport = httpx2.AsyncHTTPTransport(uds=str(self.socket))
        async with httpx2.AsyncClient(transport=transport, base_url="http://core") as client:
            answer = await client.request(
                method,
                path,
                json=json,
                content=content,
                params=params,
                headers=self.headers,
                timeout=timeout,
            )
        if self.to_lose:
            self.to_lose -= 1
            raise MachineUnavailable("connection lost")
        if answer.is_error:
            detail = answer.json()
            raise MachineRefused(answer.status_code, detail["message"], code=detail.get("code", ""))
        return answer.json()


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running() as service:
        yield service


Call = Callable[..., Json]


@pytest.fixture
def call(service: Service) -> Call:
    chat = str(uuid4())

    def calling(tool: Tool, lose: int = 0, **arguments: object) -> Json:
        assert service.socket is not None
        call_id = str(uuid4())
        machine = HttpMachine(service.socket, chat, call_id)
        machine.to_lose = lose

        async def limited() -> ToolOutcome:
            async with asyncio.timeout(LIMIT):
                return await tool.call(arguments, ToolContext(chat, call_id, machine))

        outcome = asyncio.run(limited())
        assert outcome.error is None, outcome.error
        return outcome.value

    return calling


def test_a_command_runs_without_prompts(call: Call) -> None:
    value = call(ExecuteTool(), command="echo $PAGER; cat; exit 2")
    assert (value["output"], value["exit_code"], value["success"]) == ("cat\n", 2, False)


@pytest.mark.parametrize("lose", [1, 2])
def test_after_a_lost_response_a_command_does_not_run_twice(
    call: Call, lose: int, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    value = call(ExecuteTool(), lose=1, command=f"echo run >> {log}; echo done")
    assert value["output"] == "done\n"
    if lose == 2:
        doubtful = call(ExecuteTool(), lose=2, command=f"echo again >> {log}")
        assert "outcome unknown" in doubtful["error"]
    assert log.read_text().count("run\n") == 1


def test_a_background_command_is_read_and_ended(call: Call, tmp_path: Path) -> None:
    started = call(ExecuteTool(), command=f"cd {tmp_path}; echo up; sleep 1000 &")
    process_id = started["background_process_id"]
    listed = call(ProcessListTool())["processes"]
    assert [(entry["id"], entry["running"]) for entry in listed] == [(process_id, True)]
    assert call(ProcessOutputTool(), process_id=process_id, wait_timeout="0s")["running"]
    assert call(ProcessSignalTool(), process_id=process_id, signal="kill")["success"]
    ended = call(ProcessOutputTool(), process_id=process_id, wait_timeout="15s")
    assert (ended["exit_code"], ended["signal"]) == (137, "SIGKILL")
    refused = call(ProcessSignalTool(), process_id=process_id, signal="kill")
    assert "not running" in refused["error"]


def test_a_command_that_takes_longer_goes_on(call: Call, tmp_path: Path) -> None:
    value = call(ExecuteTool(), command="echo up; sleep 1000", timeout="200ms")
    assert value["timed_out"] is True
    assert value["running"] is True
    call(ProcessSignalTool(), process_id=value["background_process_id"], signal="kill")


@pytest.mark.parametrize("began", [True, False])
def test_an_interrupted_command_is_stopped_or_kept_from_starting(
    service: Service, tmp_path: Path, began: bool
) -> None:
    assert service.socket is not None
    chat, call_id = str(uuid4()), str(uuid4())
    context = ToolContext(chat, call_id, HttpMachine(service.socket, chat, call_id))
    fifo, log = tmp_path / "fifo", tmp_path / "log"
    os.mkfifo(fifo)
    arguments: Json = {
        "command": f"echo run >> {log}; echo begun; echo > {fifo}; exec sleep 1000",
        "timeout": "10m",
    }

    async def scene() -> ToolOutcome | None:
        tool = ExecuteTool()
        if began:
            calling = asyncio.create_task(tool.call(arguments, context))
            await asyncio.to_thread(fifo.read_text)
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
        return await tool.interrupted(arguments, context)

    async def limited() -> ToolOutcome | None:
        async with asyncio.timeout(LIMIT):
            return await scene()

    outcome = asyncio.run(limited())
    assert outcome is not None
    if began:
        assert "canceled by the user after" in outcome.value["error"]
        assert outcome.value["output"] == "begun\n"
        assert log.read_text() == "run\n"
    else:
        assert "not run" in outcome.value["error"]
        assert not log.exists()


def test_a_file_is_written_read_and_edited(call: Call, tmp_path: Path) -> None:
    path = str(tmp_path / "folder" / "file")
    assert call(WriteFileTool(), path=path, content="one\ntwo\n") == {"ok": True}
    assert call(ReadFileTool(), path=path)["content"] == "1\tone\n2\ttwo"
    edits = [{"path": path, "old_text": "two", "new_text": "three"}]
    (edited,) = call(EditFilesTool(), edits=edits)["files"]
    assert "-two\n+three\n" in edited["diff"]
    assert call(ReadFileTool(), path=str(tmp_path))["content"] == "1\tfolder/\n"


@pytest.mark.parametrize(
    ("command", "end"),
    [
        # A progress bar, whose lines are 60 kB long.
        (
            """seq -f '%.0f %%' 0 0.01 100 | tr '\\n' '\\r'; printf '100 %%\\ndone\\n'""",
            "100 %\ndone\n",
        ),
        ("""head --bytes=9000 /dev/zero | tr '\\0' x; printf ERROR""", "xERROR"),
    ],
)
def test_a_model_sees_the_newest_output(call: Call, command: str, end: str) -> None:
    output = str(call(ExecuteTool(), command=command)["output"])
    assert output.endswith(end), output[-80:]
