from deskhand.tools.agents.providers.prices import PriceList, Prices

USUAL, LONG = Prices(1, 2, 3, 4), Prices(5, 6, 7, 8)


def test_prices_change_above_the_length_of_a_long_prompt() -> None:
    prices = PriceList(USUAL, LONG, 100)
    assert [prices.of_request(tokens) for tokens in (0, 100, 101)] == [USUAL, USUAL, LONG]


def test_without_prices_for_long_prompts_all_cost_the_same() -> None:
    assert PriceList(USUAL).of_request(10**9) == USUAL
