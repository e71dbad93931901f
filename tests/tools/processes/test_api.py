import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.tools.processes.service import LIMIT, Service, running
from tools.processes.registry import ProcessSettings

Json = dict[str, Any]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running(ProcessSettings(keep_exited=12, close_grace=0.2)) as service:
        yield service


def start(service: Service, command: str, **more: object) -> str:
    answer = service.request("POST", "/api/v0/processes/start", json={"command": command, **more})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def output(service: Service, process_id: str, **query: object) -> Json:
    params = {name: str(value) for name, value in query.items()}
    answer = service.request("GET", f"/api/v0/processes/{process_id}/output", params=params)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def give(service: Service, process_id: str, **body: object) -> httpx2.Response:
    return service.request("POST", f"/api/v0/processes/{process_id}/input", json=body)


def test_the_signal_is_named_and_counted_into_the_code(service: Service) -> None:
    ended = output(service, start(service, "kill -9 $$"), wait="true")
    assert (ended["exit_code"], ended["signal"]) == (137, "SIGKILL")


def test_output_is_read_step_by_step(service: Service) -> None:
    process_id = start(service, "while read x; do echo got $x; done", stdin=True)
    assert give(service, process_id, data="one\n").status_code == 200
    first = output(service, process_id, wait_for="output", cursor=0)
    assert (first["output"], first["gap_bytes"], first["has_more"]) == ("got one\n", 0, False)
    assert give(service, process_id, data="two\n", close=True).status_code == 200
    output(service, process_id, wait="true")
    rest = output(service, process_id, cursor=first["next_cursor"])
    assert (rest["output"], rest["running"]) == ("got two\n", False)


def test_a_process_without_input_says_so(service: Service) -> None:
    refused = give(service, start(service, "sleep 1000"), data="x")
    assert refused.status_code == 409
    assert "no input" in refused.json()["message"]
    unknown = give(service, "unknown", data="x")
    assert unknown.status_code == 404


def test_a_wait_ends_in_time(service: Service) -> None:
    waited = output(service, start(service, "sleep 1000"), wait="true", timeout_ms=1)
    assert waited["running"] is True


def test_a_list_says_when_there_is_more(service: Service) -> None:
    for number in range(12):
        output(service, start(service, f"exit {number}", name="batch"), wait="true")
    body = service.request("GET", "/api/v0/processes/list").json()
    assert len(body["processes"]) == 10
    assert body["has_more"] is True
    assert body["total"] > 10
    rest = service.request("GET", "/api/v0/processes/list", params={"offset": "10"}).json()
    assert rest["has_more"] is False
    assert rest["processes"][-1]["name"].startswith("batch")


def test_a_repeated_call_is_told_of_its_process_even_when_that_is_forgotten(
    service: Service,
) -> None:
    process_id = start(service, "true", tool_call_id="forgotten")
    output(service, process_id, wait="true")
    for _ in range(13):
        output(service, start(service, "true"), wait="true")
    assert start(service, "true", tool_call_id="forgotten") == process_id
    answer = service.request("GET", f"/api/v0/processes/{process_id}/output")
    assert answer.status_code == 404


def test_a_cancel_needs_a_chat(service: Service) -> None:
    answer = service.request("POST", "/api/v0/tool-calls/c/cancel")
    assert answer.status_code == 400


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
