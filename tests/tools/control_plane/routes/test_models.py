import asyncio
from pathlib import Path

from deskhand.tools.control_plane.routes.models import (
    KnownModel,
    KnownScript,
    ModelChoices,
    router,
)
from tests.tools.control_plane.fakes import control_plane


def test_models_are_listed_with_their_keys_and_scripts_with_what_they_show(tmp_path: Path) -> None:
    choices = ModelChoices(
        "model-1",
        [KnownModel("model-1", "anthropic", True), KnownModel("model-2", "openai", False)],
        [KnownScript("scripted:tour", "Shows the parts of a desktop.")],
    )

    async def scenario() -> None:
        plane = control_plane(tmp_path, pages=[router(lambda: choices)])
        async with plane.client() as client:
            answer = (await client.get("/api/v0/models")).json()
        assert answer == {
            "usual": "model-1",
            "models": [
                {"model": "model-1", "provider": "anthropic", "has_key": True},
                {"model": "model-2", "provider": "openai", "has_key": False},
            ],
            "scripts": [{"model": "scripted:tour", "about": "Shows the parts of a desktop."}],
        }

    asyncio.run(scenario())
