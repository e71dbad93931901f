import asyncio
from collections.abc import Callable

import pytest

from deskhand.tools.agents.providers.port import ModelReply, Prompt, ProviderAccount
from deskhand.tools.agents.providers.provider_table import accounts_in
from deskhand.tools.agents.providers.selection import Models
from deskhand.tools.conversation.errors import NoModel


class SilentModel:
    """A model that is never asked."""

    closed = False

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        raise AssertionError("nobody should ask")

    async def close(self) -> None:
        self.closed = True


def models(
    *, chosen: str | None = None, keys: tuple[str, ...] = (), missing: str = ""
) -> tuple[Models, list[str]]:
    made: list[str] = []

    def open_account(name: str) -> ProviderAccount:
        made.append(name)
        return SilentModel()

    found = Models(
        chosen=chosen,
        accounts=accounts_in(dict.fromkeys(keys, "k")),
        scripts=lambda: ("delegate", "tour"),
        has_client=lambda library: library != missing,
        open_account=open_account,
    )
    return found, made


def test_without_a_key_the_scripted_models_play() -> None:
    found, made = models()
    assert found.resolve(None, role="parent")[0] == "scripted:delegate"
    assert found.resolve(None, role="child")[0] == "scripted:tour"
    assert made == ["scripted"]
    assert not found.has_key


def test_what_was_made_is_closed_at_the_end() -> None:
    found, _ = models(keys=("ANTHROPIC_API_KEY",))
    _, model = found.resolve(None, role="child")
    asyncio.run(found.close())
    assert isinstance(model, SilentModel)
    assert model.closed


def test_with_a_key_the_providers_model_is_the_usual_one() -> None:
    found, made = models(keys=("ANTHROPIC_API_KEY",))
    name, _ = found.resolve(None, role="child")
    assert name == found.usual()
    assert name.startswith("claude-")
    assert made == ["anthropic"]
    assert found.has_key
    assert (found.has_key_of("anthropic"), found.has_key_of("openai")) == (True, False)


def test_the_chosen_model_beats_both_and_an_asked_one_beats_it() -> None:
    found, _ = models(chosen="scripted:tour", keys=("ANTHROPIC_API_KEY",))
    assert found.resolve(None, role="parent")[0] == "scripted:tour"
    assert found.resolve("claude-opus-5-5", role="parent")[0] == "claude-opus-5-5"


def test_an_unknown_script_is_named_with_the_known_ones() -> None:
    found, made = models()
    with pytest.raises(NoModel, match=r"no script 'nope'.*delegate, tour"):
        found.resolve("scripted:nope", role="child")
    assert made == []


def test_a_providers_model_without_a_key_is_refused_with_advice() -> None:
    found, made = models()
    with pytest.raises(NoModel, match="ANTHROPIC_API_KEY"):
        found.resolve("claude-opus-5-5", role="child")
    assert made == []


@pytest.mark.parametrize(
    ("keys", "usual"),
    [
        (("OPENAI_API_KEY",), "gpt-"),
        (("GOOGLE_API_KEY",), "gemini-"),
        (("GEMINI_API_KEY", "OPENAI_API_KEY"), "gpt-"),
        (("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "claude-"),
        (("DESKHAND_OPENAI_BASE_URL",), "scripted:"),
        (("DESKHAND_OPENAI_BASE_URL", "GEMINI_API_KEY"), "gemini-"),
    ],
)
def test_the_default_is_the_model_of_the_provider_whose_key_is_set(
    keys: tuple[str, ...], usual: str
) -> None:
    assert models(keys=keys)[0].usual().startswith(usual)


@pytest.mark.parametrize(
    ("model", "account"),
    [
        ("claude-opus-5-5", "anthropic"),
        ("gpt-5.4", "openai"),
        ("openai:house-model", "openai"),
        ("gemini-9-flash", "gemini"),
        ("compatible:gpt-5.4", "compatible"),
        ("house-model", "anthropic"),
    ],
)
def test_a_model_is_asked_through_the_account_of_its_provider(model: str, account: str) -> None:
    keys = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "DESKHAND_OPENAI_BASE_URL")
    found, made = models(keys=keys)
    assert found.resolve(model, role="child")[0] == model
    found.resolve(model, role="child")
    assert made == [account]


@pytest.mark.parametrize(
    ("model", "advice"),
    [
        ("gpt-5.4", "set OPENAI_API_KEY, or"),
        ("gemini-9", "set GEMINI_API_KEY, or"),
        ("compatible:x", "set DESKHAND_OPENAI_BASE_URL, or"),
        ("house-model", "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or"),
    ],
)
def test_a_refusal_names_the_variable_that_is_missing(model: str, advice: str) -> None:
    with pytest.raises(NoModel, match=advice):
        models()[0].resolve(model, role="child")


def test_a_client_that_is_not_installed_is_named_with_its_command() -> None:
    found, made = models(keys=("GOOGLE_API_KEY",), missing="google.genai")
    with pytest.raises(NoModel) as caught:
        found.resolve(None, role="child")
    assert str(caught.value) == (
        "GOOGLE_API_KEY is set, but its client is not installed: pip install 'deskhand[gemini]'"
    )
    assert made == []
