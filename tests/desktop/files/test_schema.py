from pathlib import Path

from fastapi import FastAPI

from deskhand.desktop.files import schema
from deskhand.desktop.files.api import router
from tests.desktop.agent_helper.threaded import unopened_files


def test_every_route_tells_of_its_body_or_its_query() -> None:
    routes = router(lambda: Path("/"), unopened_files()).routes
    described = {route.path: route.openapi_extra for route in routes}  # type: ignore[attr-defined]
    assert [path for path, extra in described.items() if not extra] == []


def test_a_path_is_needed_wherever_it_is_in_the_query() -> None:
    for extra in (schema.READ, schema.READ_LINES, schema.WRITE, schema.WATCH):
        assert extra["parameters"][0]["name"] == "path"
        assert extra["parameters"][0]["required"]


def test_bytes_and_events_are_not_described_to_be_json() -> None:
    app = FastAPI()
    app.include_router(router(lambda: Path("/"), unopened_files()))
    paths = app.openapi()["paths"]
    for path, media_type in (("read-file", "*/*"), ("watch", "text/event-stream")):
        described = paths[f"/api/v0/{path}"]["get"]["responses"]["200"]["content"]
        assert list(described) == [media_type]
