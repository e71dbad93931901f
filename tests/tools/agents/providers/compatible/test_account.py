"""What is particular to such servers; what holds for all is in ``test_all_providers``."""

import asyncio

import pytest

from deskhand.tools.agents.providers.attempts import AttemptFailed
from deskhand.tools.agents.providers.compatible.account import (
    PROVIDER,
    CompatibleModel,
    _classified,
)
from deskhand.tools.agents.providers.errors import (
    KeyRefused,
    LimitReached,
    ModelRefused,
    NoCredit,
)
from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.agents.providers.provider_table import ModelAccount
from deskhand.tools.agents.scripted.script.script import read_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from deskhand.tools.conversation.conversation import Text
from tests.tools.agents.loop.fakes import MemoryPictures, user

FACTS = model_facts("compatible:llama")
ACCOUNT = ModelAccount(PROVIDER, "", "http://127.0.0.1:1/v1", "DESKHAND_OPENAI_API_KEY")


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "", KeyRefused),
        (402, "", NoCredit),
        (429, "insufficient_quota", NoCredit),
        (400, "context_length_exceeded", LimitReached),
        (413, "", LimitReached),
        (429, "", AttemptFailed),
        (500, "", AttemptFailed),
        (404, "", ModelRefused),
    ],
)
def test_refusals_are_told_apart(status: int, code: str, kind: type[Exception]) -> None:
    assert type(_classified(status, code, "no", FACTS, ACCOUNT)) is kind


def test_a_server_that_needs_no_key_is_asked_without_one() -> None:
    async def scenario() -> None:
        script = read_script("test", {"steps": [{"say": "Hi."}]})
        async with ScriptedModelServer([script]) as server:
            server.api_key = "none"
            model = CompatibleModel(MemoryPictures(), api_key="", base_url=f"{server.url}/v1")
            prompt = Prompt("", (user("Go."),), (), False, "compatible:test")
            reply = await model.reply(prompt, lambda _: None)
            await model.close()
        assert reply.content == (Text("Hi."),)

    asyncio.run(scenario())
