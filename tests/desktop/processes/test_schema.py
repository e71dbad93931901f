import json
from dataclasses import fields
from pathlib import Path

from fastapi import FastAPI

from deskhand.desktop.processes import schema
from deskhand.desktop.processes.api import router
from deskhand.desktop.processes.registry import Registry
from deskhand.desktop.processes.requests import StartRequest, start_request
from tests.desktop.processes.service import FakeSurroundings


def test_all_of_a_start_is_in_the_document() -> None:
    documented = schema.START["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert {field.name for field in fields(StartRequest)} == set(documented) - {"rows", "columns"}
    assert start_request(json.dumps({"command": "x", "pty": True}).encode()).pty is not None


def test_every_route_documents_its_body(tmp_path: Path) -> None:
    routes = router(Registry(FakeSurroundings(tmp_path))).routes
    documented = {route.path: route.openapi_extra for route in routes}  # type: ignore[attr-defined]
    assert not [path for path, extra in documented.items() if not extra]


def test_a_refused_value_is_not_valid_in_the_schema() -> None:
    documented = schema.START["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert documented["command"]["minLength"] == 1
    assert "500" in schema.START["responses"]
    offset, limit = (one["schema"] for one in schema.LIST["parameters"])
    assert (offset["minimum"], limit["minimum"], limit["maximum"]) == (0, 0, 10**18 - 1)


def test_a_stream_is_not_documented_as_json(tmp_path: Path) -> None:
    app = FastAPI()
    app.include_router(router(Registry(FakeSurroundings(tmp_path))))
    stream = app.openapi()["paths"]["/api/v0/processes/{process_id}/stream"]["get"]
    assert list(stream["responses"]["200"]["content"]) == ["text/event-stream"]
