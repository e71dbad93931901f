import asyncio
from collections.abc import Callable

import pytest

from deskhand.tools.agents.providers.port import ModelReply, Prompt
from deskhand.tools.agents.providers.selection import Models, ProviderAccount
from deskhand.tools.conversation.errors import NoModel


class SilentModel:
    """A model that is never asked."""

    closed = False

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None]) -> ModelReply:
        raise AssertionError("nobody should ask")

    async def close(self) -> None:
        self.closed = True


def models(*, chosen: str | None = None, has_key: bool = False) -> tuple[Models, list[str]]:
    made: list[str] = []

    def maker(kind: str) -> Callable[[], ProviderAccount]:
        def make() -> ProviderAccount:
            made.append(kind)
            return SilentModel()

        return make

    found = Models(
        chosen=chosen,
        has_key=has_key,
        scripts=lambda: ("delegate", "tour"),
        provider=maker("provider"),
        scripted=maker("scripted"),
    )
    return found, made


def test_without_a_key_the_scripted_models_play() -> None:
    found, made = models()
    assert found.resolve(None, role="parent")[0] == "scripted:delegate"
    assert found.resolve(None, role="child")[0] == "scripted:tour"
    assert made == ["scripted"]
    assert not found.has_key


def test_what_was_made_is_closed_at_the_end() -> None:
    found, _ = models(has_key=True)
    _, model = found.resolve(None, role="child")
    asyncio.run(found.close())
    assert isinstance(model, SilentModel)
    assert model.closed


def test_with_a_key_the_providers_model_is_the_usual_one() -> None:
    found, made = models(has_key=True)
    name, _ = found.resolve(None, role="child")
    assert name == found.usual()
    assert name.startswith("claude-")
    assert made == ["provider"]
    assert found.has_key


def test_the_chosen_model_beats_both_and_an_asked_one_beats_it() -> None:
    found, _ = models(chosen="scripted:tour", has_key=True)
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
