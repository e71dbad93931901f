from collections.abc import Iterator

import pytest

from tests.tools.processes.service import Service, running


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running() as service:
        yield service


def test_a_command_runs_and_its_output_can_be_waited_for(service: Service) -> None:
    started = service.request(
        "POST", "/api/v0/processes/start", json={"command": "echo hi; exit 3"}
    )
    assert started.status_code == 200
    path = f"/api/v0/processes/{started.json()['id']}/output"
    body = service.request("GET", path, params={"wait": "true"}).json()
    assert body["output"] == "hi\n"
    assert body["exit_code"] == 3
    assert body["running"] is False
