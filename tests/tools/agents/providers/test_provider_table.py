import pytest

from deskhand.tools.agents.providers.provider_table import (
    PROVIDERS,
    ModelAccount,
    accounts_in,
    effort_problem,
    key_variables,
    listed,
)


def test_an_account_is_made_by_a_key_and_named_by_its_variable() -> None:
    found = accounts_in({"GOOGLE_API_KEY": "k", "ANTHROPIC_API_KEY": "", "OTHER": "x"})
    assert found == {"gemini": ModelAccount(PROVIDERS["gemini"], "k", None, "GOOGLE_API_KEY")}
    assert "k" not in repr(found["gemini"]).split("'")


def test_an_address_alone_makes_an_account_only_where_no_key_is_needed() -> None:
    urls = {"OPENAI_BASE_URL": "http://a", "DESKHAND_OPENAI_BASE_URL": "http://b"}
    assert [(name, one.base_url) for name, one in accounts_in(urls).items()] == [
        ("compatible", "http://b")
    ]


@pytest.mark.parametrize(
    ("base_url", "local"),
    [
        (None, False),
        ("http://127.0.0.1:99/v1", True),
        ("http://localhost:8000", True),
        ("http://[::1]:8000", True),
        ("https://models.example", False),
    ],
)
def test_a_server_on_this_machine_is_recognised(base_url: str | None, local: bool) -> None:
    assert ModelAccount(PROVIDERS["compatible"], "k", base_url).is_local is local


def test_accounts_are_in_the_order_in_which_a_default_is_looked_for() -> None:
    keys = ("GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")
    assert list(accounts_in(dict.fromkeys(keys, "k"))) == ["anthropic", "openai", "gemini"]


@pytest.mark.parametrize(
    ("base_url", "host"),
    [
        (None, "api.openai.com"),
        ("http://127.0.0.1:99/v1", "127.0.0.1:99"),
        ("https://models.example", "models.example"),
        ("nonsense", "api.openai.com"),
    ],
)
def test_the_host_is_that_of_the_address(base_url: str | None, host: str) -> None:
    assert ModelAccount(PROVIDERS["openai"], "k", base_url).host == host


def test_the_variables_of_keys_make_a_phrase() -> None:
    assert key_variables() == "ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY"
    assert listed(["one"]) == "one"


def test_an_effort_is_one_that_a_provider_takes() -> None:
    assert effort_problem("low") is None
    assert effort_problem(None) is None
    assert "'huge' is none of low, medium" in str(effort_problem("huge"))


def test_an_effort_is_the_first_one_that_the_provider_knows() -> None:
    anthropic, compatible = PROVIDERS["anthropic"], PROVIDERS["compatible"]
    assert anthropic.effort("low", "max") == "low"
    assert anthropic.effort("none", "max") == "max"
    assert anthropic.effort(None, None) is None
    assert compatible.effort("low") is None
