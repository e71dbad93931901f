from pathlib import Path

from tools.files import schema
from tools.files.api import router


def test_every_route_tells_of_its_body_or_its_query() -> None:
    routes = router(lambda: Path("/")).routes
    told = {route.path: route.openapi_extra for route in routes}  # type: ignore[attr-defined]
    assert [path for path, extra in told.items() if not extra] == []


def test_a_path_is_needed_wherever_it_is_in_the_query() -> None:
    for extra in (schema.READ, schema.READ_LINES, schema.WRITE, schema.WATCH):
        assert extra["parameters"][0]["name"] == "path"
        assert extra["parameters"][0]["required"]
