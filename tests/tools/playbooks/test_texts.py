import random

import pytest

from deskhand.tools.playbooks.texts import escaped, filled, references


def test_parameters_are_replaced() -> None:
    assert filled("{customer} of {big-town}", {"customer": "Ada", "big-town": "Oslo"}) == (
        "Ada of Oslo"
    )
    assert references("{customer} and {customer_2}") == ("customer", "customer_2")


def test_double_braces_are_braces() -> None:
    assert filled("{{customer}}", {"customer": "Ada"}) == "{customer}"
    assert references("{{customer}}") == ()


def test_other_braces_stay() -> None:
    assert filled("${HOME} {1} { x }", {}) == "${HOME} {1} { x }"


def test_an_unknown_name_stays() -> None:
    assert filled("{customer}", {}) == "{customer}"


@pytest.mark.parametrize("text", ["plain", "${HOME}", "{ print $1 }"])
def test_text_without_references_is_not_escaped(text: str) -> None:
    assert escaped(text) == text


def test_every_escaped_text_is_filled_to_itself() -> None:
    chance = random.Random(3)
    for _ in range(500):
        text = "".join(chance.choice("{}a$-") for _ in range(chance.randint(0, 9)))
        assert filled(escaped(text), {"a": "no", "a-": "no"}) == text
