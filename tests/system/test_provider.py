"""A provider's key and address from the environment; the provider is a real server on loopback."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from deskhand.tools.agents.scripted.script.library import PACKAGED, parse_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.live_trees import contents_below
from tests.system.services import DESKHAND, PATIENCE

pytestmark = [
    pytest.mark.x11,
    pytest.mark.soak,
    pytest.mark.slow("a control plane that imports the SDK, and a run"),
]


PROVIDERS = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "", ""),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", "openai:"),
    "gemini": ("GEMINI_API_KEY", "GEMINI_BASE_URL", "", "gemini:"),
    "compatible": ("DESKHAND_OPENAI_API_KEY", "DESKHAND_OPENAI_BASE_URL", "/v1", "compatible:"),
}


def each_provider(quick: str) -> pytest.MarkDecorator:
    """Run a test with each provider; all but one of them before a release only."""
    return pytest.mark.parametrize(
        ("key", "address", "path", "prefix"),
        [
            pytest.param(*values, marks=() if name == quick else pytest.mark.full, id=name)
            for name, values in PROVIDERS.items()
        ],
    )


@each_provider("gemini")
def test_with_a_key_the_same_command_asks_the_provider(
    tmp_path: Path, key: str, address: str, path: str, prefix: str
) -> None:
    async def scenario() -> tuple[int | None, bytes, bytes, list[str]]:
        async with ScriptedModelServer() as provider:
            child = await asyncio.create_subprocess_exec(
                *(DESKHAND, "run", "show the date", "--model", f"{prefix}tour", "--json"),
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


@each_provider("openai")
def test_the_demo_is_played_through_the_provider(
    tmp_path: Path, key: str, address: str, path: str, prefix: str
) -> None:
    # The parent names the model of its child, which must be one of the same provider.
    text = (PACKAGED / "demo-parent.yaml").read_text()
    parent = parse_script("demo-parent", text.replace("scripted:", prefix))

    async def scenario() -> tuple[bytes, bytes, set[str]]:
        async with ScriptedModelServer([parent]) as provider:
            child = await asyncio.create_subprocess_exec(
                *(DESKHAND, "demo", "--model", f"{prefix}demo-parent", "--json"),
                *("--data-dir", str(tmp_path / "data")),
                env={
                    **os.environ,
                    key: provider.api_key,
                    address: f"{provider.url}{path}",
                    "DESKHAND_APPROVAL": "auto",
                    "DEMO_EXIT": "1",
                },
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            async with asyncio.timeout(10 * PATIENCE):
                out, err = await child.communicate()
            return out, err, {entry.model for entry in provider.log if entry.status == 200}

    out, err, models = asyncio.run(scenario())
    assert out, err
    result = json.loads(out)
    assert (result["ok"], result["hits"], result["misses"]) == (True, 5, 0), result
    assert models == {"demo-parent", "demo-child"}


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
