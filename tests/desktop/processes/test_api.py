import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from fastapi import FastAPI

from deskhand.desktop.processes.api import router
from deskhand.desktop.processes.registry import ProcessSettings
from deskhand.vncbridge.http.sse import EventStreams
from tests.desktop.processes.service import LIMIT, Service, running

Json = dict[str, Any]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running(ProcessSettings(keep_exited=12, close_grace=0.2)) as service:
        yield service


def start(service: Service, command: str, chat: str = "", **more: object) -> str:
    body = {"command": command, **more}
    headers = {"Deskhand-Chat-Id": chat} if chat else {}
    answer = service.request("POST", "/api/v0/processes/start", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def output(service: Service, process_id: str, **query: object) -> Json:
    params = {name: str(value) for name, value in query.items()}
    answer = service.request("GET", f"/api/v0/processes/{process_id}/output", params=params)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def send_input(service: Service, process_id: str, **body: object) -> httpx2.Response:
    return service.request("POST", f"/api/v0/processes/{process_id}/input", json=body)


def test_the_signal_is_named_and_counted_into_the_code(service: Service) -> None:
    ended = output(service, start(service, "kill -9 $$"), wait="true")
    assert (ended["exit_code"], ended["signal"]) == (137, "SIGKILL")


def test_output_is_read_step_by_step(service: Service) -> None:
    process_id = start(service, "while read x; do echo got $x; done", stdin=True)
    assert send_input(service, process_id, data="one\n").status_code == 200
    first = output(service, process_id, wait_for="output", cursor=0)
    assert (first["output"], first["gap_bytes"], first["has_more"]) == ("got one\n", 0, False)
    assert send_input(service, process_id, data="two\n", close=True).status_code == 200
    output(service, process_id, wait="true")
    rest = output(service, process_id, cursor=first["next_cursor"])
    assert (rest["output"], rest["running"]) == ("got two\n", False)


def test_a_process_without_input_refuses_input(service: Service) -> None:
    refused = send_input(service, start(service, "sleep 1000"), data="x")
    assert refused.status_code == 409
    assert "no input" in refused.json()["message"]
    unknown = send_input(service, "unknown", data="x")
    assert unknown.status_code == 404


def test_a_wait_ends_in_time(service: Service) -> None:
    waited = output(service, start(service, "sleep 1000"), wait="true", timeout_ms=1)
    assert waited["running"] is True


def test_a_list_shows_whether_there_is_more(service: Service) -> None:
    for number in range(12):
        output(service, start(service, f"exit {number}", name="batch"), wait="true")
    body = service.request("GET", "/api/v0/processes/list").json()
    assert len(body["processes"]) == 10
    assert body["has_more"] is True
    assert body["total"] > 10
    rest = service.request("GET", "/api/v0/processes/list", params={"offset": "10"}).json()
    assert rest["has_more"] is False
    assert rest["processes"][-1]["name"].startswith("batch")


def test_a_repeated_call_returns_its_process_even_when_that_is_forgotten(
    service: Service,
) -> None:
    chat = str(uuid4())
    process_id = start(service, "true", chat, tool_call_id="forgotten")
    output(service, process_id, wait="true")
    for _ in range(13):
        output(service, start(service, "true"), wait="true")
    assert start(service, "true", chat, tool_call_id="forgotten") == process_id
    answer = service.request("GET", f"/api/v0/processes/{process_id}/output")
    assert answer.status_code == 404
    headers = {"Deskhand-Chat-Id": chat}
    canceled = service.request("POST", "/api/v0/tool-calls/forgotten/cancel", headers=headers)
    assert canceled.json()["body"] == {"id": process_id, "started": True}


def test_the_cancel_of_a_start_that_failed_returns_its_response(
    service: Service, tmp_path: Path
) -> None:
    headers = {"Deskhand-Chat-Id": str(uuid4()), "Deskhand-Tool-Call-Id": "failed"}
    body = {"command": "true", "workdir": str(tmp_path / "none")}
    failed = service.request("POST", "/api/v0/processes/start", headers=headers, json=body)
    canceled = service.request("POST", "/api/v0/tool-calls/failed/cancel", headers=headers).json()
    assert (canceled["received"], canceled["started"], canceled["canceled"]) == (True, False, False)
    assert (canceled["status"], canceled["body"]) == (failed.status_code, failed.json())


@pytest.mark.parametrize("below", ["~", "~/", "~/tilde folder"])
def test_a_tilde_in_a_workdir_is_the_home(service: Service, below: str) -> None:
    folder = service.home / below[2:]
    folder.mkdir(exist_ok=True)
    body = {"command": "pwd", "workdir": below}
    started = service.request("POST", "/api/v0/processes/start", json=body)
    assert started.status_code == 200, started.text
    assert started.json()["workdir"] == str(folder)


def test_a_cancel_needs_a_chat(service: Service) -> None:
    answer = service.request("POST", "/api/v0/tool-calls/c/cancel")
    assert answer.status_code == 400


def test_a_call_whose_name_is_escaped_is_one_call(service: Service) -> None:
    headers = {"Deskhand-Chat-Id": str(uuid4()), "Deskhand-Tool-Call-Id": "a%2Fb%20c"}
    canceled = service.request("POST", "/api/v0/tool-calls/a%2Fb%20c/cancel", headers=headers)
    assert canceled.json()["received"] is False
    body = {"command": "true"}
    late = service.request("POST", "/api/v0/processes/start", headers=headers, json=body)
    assert (late.status_code, late.json()["code"]) == (409, "tool_call_canceled")


def test_a_process_reports_its_duration_and_that_its_time_is_over(service: Service) -> None:
    chat = str(uuid4())
    process_id = start(service, "sleep 1000", chat, timeout_ms=4_000, tool_call_id="long")
    assert output(service, process_id)["timed_out"] is False
    service.clock.ahead += 5
    late = output(service, process_id)
    assert (late["timed_out"], "duration_ms" in late) == (True, False)
    service.clock.ahead += 5
    headers = {"Deskhand-Chat-Id": chat}
    answer = service.request("POST", "/api/v0/tool-calls/long/cancel", headers=headers).json()
    assert (answer["status"], answer["content_type"]) == (200, "application/json")
    assert answer["body"] == {"id": process_id, "started": True}
    service.clock.ahead += 50
    ended = output(service, process_id)
    assert (ended["canceled"], ended["timed_out"]) == (True, False)
    assert 10_000 <= ended["duration_ms"] < 60_000 <= ended["age_ms"]


def test_a_client_that_goes_away_while_it_waits_does_no_harm(service: Service) -> None:
    process_id = start(service, "sleep 1000")
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(LIMIT)
        client.connect(str(service.socket))
        path = f"/api/v0/processes/{process_id}/output?wait=true"
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: core\r\n\r\n".encode())
    assert output(service, process_id)["running"] is True
    service.request("POST", f"/api/v0/processes/{process_id}/signal", json={"signal": "kill"})
    assert output(service, process_id, wait="true")["running"] is False


def events(answer: httpx2.Response) -> list[tuple[str, Json]]:
    """Read a stream of events to its end."""
    found = []
    for block in answer.read().decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_output_is_streamed_as_it_comes_and_the_exit_at_last(service: Service) -> None:
    process_id = start(service, "read x; echo got $x; exit 3", stdin=True)
    path = f"/api/v0/processes/{process_id}/stream"
    with service.client.stream("GET", path, timeout=LIMIT) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        send_input(service, process_id, data="it\n")
        *outputs, (last, ending) = events(answer)
    assert "".join(data["output"] for _, data in outputs) == "got it\n"
    assert (last, ending["exit_code"]) == ("exit", 3)
    with service.client.stream("GET", path, headers={"Last-Event-ID": "4"}) as answer:
        assert events(answer)[0] == (
            "output",
            {"output": "it\n", "cursor": 4, "next_cursor": 7, "gap_bytes": 0},
        )


def test_a_terminal_has_its_size_and_takes_another(service: Service) -> None:
    command = "test -t 0 && test -t 1 && stty size; read x; stty size"
    process_id = start(service, command, pty=True, rows=10, columns=40)
    first = output(service, process_id, wait_for="output", cursor=0)
    assert first["output"] == "10 40\r\n"
    body = {"rows": 20, "columns": 60}
    resized = service.request("POST", f"/api/v0/processes/{process_id}/resize", json=body)
    assert resized.status_code == 200
    send_input(service, process_id, data="\n")
    assert "20 60" in output(service, process_id, wait="true")["output"]
    gone = service.request("POST", f"/api/v0/processes/{process_id}/resize", json=body)
    assert gone.status_code == 409


def test_the_end_of_input_reaches_a_program_in_a_terminal(service: Service) -> None:
    process_id = start(service, "cat; echo over", pty={"rows": 5, "columns": 20})
    send_input(service, process_id, data="x\n", close=True)
    assert output(service, process_id, wait="true")["output"].endswith("x\r\nover\r\n")


@pytest.mark.parametrize("size", [{"rows": 0}, {"columns": 1001}, {"rows": "5"}])
def test_a_terminal_of_no_size_is_refused(service: Service, size: Json) -> None:
    answer = service.request(
        "POST", "/api/v0/processes/start", json={"command": ":", "pty": True} | size
    )
    assert answer.status_code == 400


def test_output_is_copied_where_grep_finds_it(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "logs" / "build.log"
    process_id = start(service, "echo one; echo two >&2; exit 5", output_path=str(path))
    ended = output(service, process_id, wait="true")
    assert ended["output_path"] == str(path)
    assert path.read_text() == "one\ntwo\n"
    facts = json.loads(Path(ended["exit_path"]).read_text())
    assert (facts["exit_code"], facts["signal"]) == (5, None)


def test_an_output_path_that_cannot_be_written_starts_nothing(
    service: Service, tmp_path: Path
) -> None:
    for path, status in ((str(tmp_path), 400), ("relative", 400), ("/dev/null", 400)):
        body = {"command": f"touch {tmp_path}/ran", "output_path": path}
        assert service.request("POST", "/api/v0/processes/start", json=body).status_code == status
    assert not (tmp_path / "ran").exists()


def test_the_output_of_each_process_is_kept_until_it_is_forgotten(tmp_path: Path) -> None:
    settings = ProcessSettings(keep_exited=1, close_grace=0.2, output_folder=tmp_path / "out")
    with running(settings) as service:
        first = output(service, start(service, "echo one"), wait="true")
        assert Path(first["output_path"]).read_text() == "one\n"
        second = output(service, start(service, "echo two"), wait="true")
        service.close_registry()
        assert not Path(first["output_path"]).exists()
        assert Path(second["output_path"]).read_text() == "two\n"


def test_a_folder_that_cannot_be_written_keeps_no_command_from_running(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with running(ProcessSettings(close_grace=0.2, output_folder=tmp_path / "file")) as service:
        ended = output(service, start(service, "echo ran"), wait="true")
        assert ended["output"] == "ran\n"
        assert "output_path" not in ended


def test_there_are_only_so_many_streams_at_once(service: Service) -> None:
    process_id = start(service, "echo x; read x", stdin=True)
    assert service.registry is not None
    app = FastAPI()
    app.include_router(router(service.registry, EventStreams(limit=0)))

    async def refused() -> httpx2.Response:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://core") as client:
            return await client.get(f"/api/v0/processes/{process_id}/stream")

    answer = asyncio.run(refused())
    assert answer.status_code == 429
    assert "At most 0" in answer.text
