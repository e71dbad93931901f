import asyncio
import sys

import pytest

from deskhand.tools.mcp.plane_process import PlaneNotStarted, PlaneProcess

READY = """
import json, sys
print(json.dumps({"url": "http://here", "token": "t", "options": sys.argv[1:]}), flush=True)
sys.stdin.read()
"""


def process(program: str) -> PlaneProcess:
    return PlaneProcess(("--data-dir", "d"), (sys.executable, "-c", program))


def test_a_control_plane_ends_with_its_input() -> None:
    async def scenario() -> None:
        started = process(READY)
        ready = await started.start()
        assert ready["url"] == "http://here"
        options = ["up", "--json", "--until-input-ends", "--data-dir", "d"]
        assert ready["options"] == options
        await started.close()
        await started.close()

    asyncio.run(scenario())


def test_one_that_ends_at_once_is_reported() -> None:
    with pytest.raises(PlaneNotStarted):
        asyncio.run(process("").start())
