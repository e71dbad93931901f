from typing import Any

import pytest
from jsonschema import Draft202012Validator

from deskhand.desktop.actions.catalog import ACTIONS
from deskhand.desktop.actions.requests import action_request, batch_request
from deskhand.desktop.actions.schema import (
    SPACE_RULES,
    action_schema,
    batch_schema,
    either,
    json_body,
    screenshot_parameters,
    sized,
)
from deskhand.desktop.errors import InvalidAction
from deskhand.desktop.geometry import Size

NATIVE = Size(1920, 1080)
EXAMPLES: dict[str, Any] = {
    "text": "a",
    "coordinate": [1, 2],
    "start_coordinate": [3, 4],
    "path": [[1, 2], [3, 4]],
    "modifiers": ["ctrl"],
    "duration": 1,
    "duration_ms": 5,
    "delay_ms": 5,
    "hosts": ["mail.example"],
    "protected": True,
    "any_field": True,
    "scroll_direction": "up",
    "scroll_amount": 2,
    "scroll_pixels": 100,
    "scroll_x": -5,
    "scroll_y": 100,
    "region": [1, 2, 3, 4],
    "format": "jpeg",
    "quality": 50,
    "button": "right",
    "cursor": False,
    "since": "b-1",
    "observe": {"screenshot": True, "settle": {"quiet_ms": 1, "max_ms": 2, "ignore": []}},
    "coordinate_space": "native",
    "scaled_width": 640,
    "scaled_height": 360,
}
TOGETHER = {
    "any_field": ["hosts"],
    "scaled_width": ["scaled_height"],
    "scaled_height": ["scaled_width"],
    "start_coordinate": ["coordinate"],
    "coordinate": ["start_coordinate"],
}
VARIANTS = {
    variant["properties"]["action"]["const"]: variant for variant in action_schema()["oneOf"]
}


def test_the_name_of_an_action_selects_its_variant() -> None:
    chosen = action_schema()["discriminator"]
    assert chosen["propertyName"] == "action"
    assert chosen["mapping"].keys() == VARIANTS.keys()


def test_every_action_has_its_variant() -> None:
    assert list(VARIANTS) == list(ACTIONS)


@pytest.mark.parametrize("name", ACTIONS)
def test_every_field_of_the_schema_is_taken_by_the_parser(name: str) -> None:
    variant = VARIANTS[name]
    least: dict[str, Any] = {"action": name}
    for field in ACTIONS[name].needs:
        least.setdefault(field, EXAMPLES.get(field, name))
    if name == "left_click_drag":
        least = {"action": name, "path": [[1, 2], [3, 4]]}
    assert action_request(least, NATIVE).name == name
    # Where a point may be, "ref" stands for one before the parser sees it.
    for field in set(variant["properties"]) - {"action", "ref"}:
        more = {**least, field: EXAMPLES[field]}
        for other in TOGETHER.get(field, []):
            if other in variant["properties"]:
                more[other] = EXAMPLES[other]
        if name == "left_click_drag" and "coordinate" in more:
            del more["path"]
        assert action_request(more, NATIVE).name == name


@pytest.mark.parametrize("name", ACTIONS)
def test_every_required_field_is_required_by_the_parser(name: str) -> None:
    needed = ACTIONS[name].needs
    is_valid = Draft202012Validator(VARIANTS[name]).is_valid
    complete = {"action": name} | {field: EXAMPLES.get(field, name) for field in needed}
    assert is_valid(complete)
    for field in needed:
        assert not is_valid({key: complete[key] for key in complete if key != field})
    if "coordinate" in needed:
        referred = {key: complete[key] for key in complete if key != "coordinate"} | {"ref": "e1"}
        assert is_valid(referred)
        assert not is_valid(complete | referred)
    for left_out in needed:
        data = {field: EXAMPLES[field] for field in needed if field != left_out}
        with pytest.raises(InvalidAction, match="Missing"):
            action_request({"action": name, **data}, NATIVE)


def test_a_batch_holds_actions_without_an_observation_of_their_own() -> None:
    schema = batch_schema()
    items = schema["properties"]["actions"]["items"]["oneOf"]
    assert [item["properties"]["action"]["const"] for item in items] == list(ACTIONS)
    assert not any("observe" in item["properties"] for item in items)
    fields = {field: EXAMPLES[field] for field in ("observe", "coordinate_space")}
    assert set(fields) < set(schema["properties"])
    assert batch_request({"actions": [{"action": "wait"}], **fields}, NATIVE).actions


def test_parameters_of_a_screenshot_are_fields_of_the_action() -> None:
    names = {parameter["name"] for parameter in screenshot_parameters()}
    assert names == set(VARIANTS["screenshot"]["properties"]) - {"action", "observe"}


def test_a_body_that_a_route_reads_by_itself_is_required_unless_it_may_be_left_out() -> None:
    schema = {"type": "object", **either("text", "image_png")}
    content = {"application/json": {"schema": schema}}
    assert json_body(schema) == {"requestBody": {"required": True, "content": content}}
    assert json_body(schema, needed=False)["requestBody"]["required"] is False


def test_a_scaled_size_is_not_larger_than_the_screen() -> None:
    shown = sized({"parameters": screenshot_parameters(), "body": action_schema()}, Size(800, 600))
    named = {one["name"]: one["schema"] for one in shown["parameters"]}
    assert (named["scaled_width"]["maximum"], named["scaled_height"]["maximum"]) == (800, 600)
    click = shown["body"]["oneOf"][0]
    assert click["properties"]["scaled_height"]["maximum"] == 600
    assert click["dependentRequired"] == SPACE_RULES["dependentRequired"]
