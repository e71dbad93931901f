"""A provider's key and address from the environment; the provider is a real server on loopback."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.live_trees import contents_below
from tests.system.services import DESKHAND, PATIENCE

pytestmark = [
    pytest.mark.x11,
    pytest.mark.soak,
    pytest.mark.slow("a control plane that imports the SDK, and a run"),
]


@pytest.mark.parametrize(
    ("key", "address", "path", "model"),
    [
        ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "", "tour"),
        ("GEMINI_API_KEY", "GEMINI_BASE_URL", "", "gemini:tour"),
        ("DESKHAND_OPENAI_API_KEY", "DESKHAND_OPENAI_BASE_URL", "/v1", "compatible:tour"),
    ],
)
def test_with_a_key_the_same_command_asks_the_provider(
    tmp_path: Path, key: str, address: str, path: str, model: str
) -> None:
    async def scenario() -> tuple[int | None, bytes, bytes, list[str]]:
        async with ScriptedModelServer() as provider:
            child = await asyncio.create_subprocess_exec(
                *(DESKHAND, "run", "show the date", "--model", model, "--json"),
                env={
                    **os.environ,
                    key: provider.api_key,
                    "DESKHAND_APPROVAL": "auto",
                    address: f"{provider.url}{path}",
                    "DESKHAND_DATA_DIR": str(tmp_path / "data"),
                },
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            async with asyncio.timeout(5 * PATIENCE):
                out, err = await child.communicate()
            return child.returncode, out, err, [entry.model for entry in provider.log]

    status, out, err, models = asyncio.run(scenario())
    assert status == 0, err
    assert json.loads(out)["outcome"] == "done"
    assert set(models) == {"tour"}
    # What the key is stays with the process that was given it.
    for content in contents_below(tmp_path / "data").values():
        assert key.encode() not in content


def test_a_wrong_key_is_a_models_failure_with_advice(tmp_path: Path) -> None:
    async def scenario() -> tuple[int | None, bytes]:
        async with ScriptedModelServer() as provider:
            child = await asyncio.create_subprocess_exec(
                *(DESKHAND, "run", "show the date", "--model", "tour", "--json"),
                env={
                    **os.environ,
                    "ANTHROPIC_API_KEY": "sk-wrong",
                    "ANTHROPIC_BASE_URL": provider.url,
                    "DESKHAND_DATA_DIR": str(tmp_path / "data"),
                },
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            async with asyncio.timeout(5 * PATIENCE):
                out, _ = await child.communicate()
            return child.returncode, out

    status, out = asyncio.run(scenario())
    assert status == 5, out
    assert "refused ANTHROPIC_API_KEY (401)" in json.loads(out)["last_error"]
