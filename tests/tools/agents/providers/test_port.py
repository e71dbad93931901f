from deskhand.tools.agents.providers.port import Usage, call_arguments, inclusive_usage


def test_usages_add_up_field_by_field() -> None:
    assert Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40) == Usage(11, 22, 33, 44)
    assert Usage(1, 2, 3, 4).total == 10


def test_a_sum_with_an_unknown_cost_is_unknown() -> None:
    assert (Usage(cost_usd=0.5) + Usage(cost_usd=0.25)).cost_usd == 0.75
    assert (Usage(cost_usd=0.5) + Usage(1, cost_usd=None)).cost_usd is None


def test_input_that_includes_the_cache_is_counted_apart() -> None:
    found = inclusive_usage(100, 7, cached=60, written=30, thinking=4)
    assert found == Usage(10, 7, 60, 30, thinking_tokens=4)
    assert inclusive_usage(5, 0, cached=6).input_tokens == 0


def test_arguments_that_are_no_object_are_arguments_of_no_tool() -> None:
    assert call_arguments({"a": 1}) == {"a": 1}
    assert call_arguments(None) == {}
    assert call_arguments(["a"]) == {"arguments": ["a"]}
