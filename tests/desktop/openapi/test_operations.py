from typing import Any

from deskhand.desktop.openapi.operations import OPERATIONS
from deskhand.vncbridge.openapi.document import describe


def test_each_schema_has_a_name_of_its_own() -> None:
    document: dict[str, Any] = {"paths": {}}
    for operation in OPERATIONS:
        method, path = operation.split()
        answers: dict[str, Any] = {"200": {"content": {"application/json": {}}}}
        document["paths"].setdefault(path, {})[method.lower()] = {"responses": answers}
    describe(document, OPERATIONS)
    assert {"Status", "Recording"} <= set(document["components"]["schemas"])
