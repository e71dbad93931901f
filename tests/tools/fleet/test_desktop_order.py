"""Orders of desktops as JSON."""

import json

import pytest

from deskhand.tools.fleet.desktop_order import DesktopOrder
from deskhand.tools.fleet.errors import BadOrder


@pytest.mark.parametrize(
    "order",
    [
        DesktopOrder("a1b2c3d4"),
        DesktopOrder(
            *("a1b2c3d4", "Search", "chat-1", {"mode": "none"}, False, "root-1"),
            *(("osworld", "cdp"), "office", "name: office", "work"),
        ),
    ],
)
def test_an_order_is_the_same_after_its_way_as_json(order: DesktopOrder) -> None:
    assert DesktopOrder.of_json(json.loads(json.dumps(order.to_json()))) == order


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([], "is an object with an id"),
        ({"name": "no id"}, "is an object with an id"),
        ({"id": "a", "colour": 1, "age": 2}, "unknown fields of an order: age, colour"),
    ],
)
def test_what_is_no_order_is_refused_with_the_reason(data: object, reason: str) -> None:
    with pytest.raises(BadOrder, match=reason):
        DesktopOrder.of_json(data)
