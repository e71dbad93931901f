import pytest

from deskhand.tools.agents.costs.cost import priced
from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.providers.port import Usage
from deskhand.tools.agents.providers.prices import PriceList, Prices


def test_each_kind_of_token_has_its_price() -> None:
    usage = Usage(1_000_000, 100_000, 10_000_000, 200_000, thinking_tokens=50_000)
    # 4 + 2 + 2 + 1 USD; thinking is part of the output.
    assert priced(usage, model_facts("claude-opus-5-5").prices).cost_usd == pytest.approx(9.0)


def test_a_long_prompt_has_its_own_prices() -> None:
    prices = PriceList(Prices(1, 1, 1, 1), Prices(2, 2, 2, 2), 100)
    assert priced(Usage(50, 0, 30, 20), prices).cost_usd == pytest.approx(100e-6)
    assert priced(Usage(51, 0, 30, 20), prices).cost_usd == pytest.approx(202e-6)


def test_without_prices_the_cost_is_unknown_unless_nothing_was_used() -> None:
    assert priced(Usage(1), None) == Usage(1, cost_usd=None)
    assert priced(Usage(), None).cost_usd == 0.0
