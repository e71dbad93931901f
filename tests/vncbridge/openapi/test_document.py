from typing import Any

import pytest

from deskhand.vncbridge.openapi.document import ApiOperation, describe
from deskhand.vncbridge.openapi.schemas import TEXT, array, component, record, reference

JSON: dict[str, Any] = {"application/json": {"schema": {}}}
PICTURE: dict[str, Any] = {"image/png": {}}


def document(**operations: Any) -> dict[str, Any]:
    return {"paths": {"/things": operations}}


def answering(status: str = "200", **content: Any) -> dict[str, Any]:
    return {"operationId": "things_get", "responses": {status: {"content": {**JSON, **content}}}}


def test_an_operation_gets_its_name_and_the_schema_of_its_answer() -> None:
    shown = document(get=answering())
    thing = record("Thing", {"name": TEXT})
    describe(shown, {"GET /things": ApiOperation("list_things", array(thing))})
    operation = shown["paths"]["/things"]["get"]
    assert operation["operationId"] == "list_things"
    content = operation["responses"]["200"]["content"]
    assert content["application/json"]["schema"] == array(reference("Thing"))
    assert shown["components"]["schemas"]["Thing"]["properties"] == {"name": TEXT}


def test_an_operation_without_a_json_answer_promises_none() -> None:
    shown = document(get=answering("200", **PICTURE))
    describe(shown, {"GET /things": ApiOperation("draw_things")})
    assert list(shown["paths"]["/things"]["get"]["responses"]["200"]["content"]) == ["image/png"]


def test_refusals_and_unknown_operations_stay() -> None:
    shown = document(get=answering("404"), post=answering())
    describe(shown, {"GET /things": ApiOperation("list_things", TEXT)})
    assert shown["paths"]["/things"]["get"]["responses"]["404"]["content"] == JSON
    assert shown["paths"]["/things"]["post"] == answering()


def test_components_within_components_are_moved_once_each() -> None:
    kind = component("Kind", TEXT)
    thing = record("Thing", {"first": kind, "second": kind})
    shown = document(get=answering())
    describe(shown, {"GET /things": ApiOperation("list_things", thing)})
    schemas = shown["components"]["schemas"]
    assert schemas["Kind"] == TEXT
    assert schemas["Thing"]["properties"]["second"] == reference("Kind")


def test_two_schemas_of_one_name_are_an_error() -> None:
    both = record("Both", {"a": component("Kind", TEXT), "b": component("Kind", array(TEXT))})
    with pytest.raises(ValueError, match="Kind"):
        describe(document(get=answering()), {"GET /things": ApiOperation("list_things", both)})
