from typing import Any

import pytest

from deskhand.desktop.errors import BadField
from deskhand.desktop.fields import Fields
from deskhand.tools.kit.support.order_schema import ORDER


def read(**fields: Any) -> dict[str, Any]:
    return Fields(ORDER, ("prompt",)).read({"prompt": "x", **fields})


def test_an_order_has_defaults() -> None:
    given = read()
    assert (given["desktop"], given["budget"], given["allow"]) == ("own", {}, ())
    assert read(desktop=" ")["desktop"] == "own"


def test_of_a_budget_only_what_is_given_counts() -> None:
    budget = {"steps": 5, "minutes": 1.5, "usd": None}
    assert read(budget=budget)["budget"] == {"steps": 5, "minutes": 1.5}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"budget": {"steps": 1.5}}, "budget.steps must be a whole number"),
        ({"budget": {"usd": 0}}, "budget.usd must be more than 0"),
        ({"budget": {"step": 5}}, "unknown argument budget.step: did you mean steps?"),
        ({"domains": [None]}, r"domains\[0\] must be a text"),
    ],
)
def test_what_is_wrong_in_an_order_is_named(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadField) as caught:
        read(**fields)
    assert caught.value.sentence == sentence.replace("\\", "")
