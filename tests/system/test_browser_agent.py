"""Agents of all providers use the browser toolset, as their provider offers it."""

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from deskhand.tools.agents.scripted.script.library import parse_script
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from tests.system.services import DESKHAND, PATIENCE
from tests.system.test_provider import each_provider

pytestmark = [
    pytest.mark.x11,
    pytest.mark.root,
    pytest.mark.soak,
    pytest.mark.slow("a control plane that imports the SDK, and a run in the browser"),
]

SCRIPT = """
steps:
  - calls:
      - browser.navigate:
          url: "data:text/html,<button onclick='document.body.textContent=`Sent now`'>Send</button>"
      - browser.find: {query: send button}
  - calls:
      - browser.left_click: {target: {type: ref, ref: ref_1}}
      - browser.get_page_text: {}
      - browser.screenshot: {}
      - browser.left_click: {target: {type: ref, ref: ref_99}}
      - browser.read_page: {}
  - report: {summary: The button was used., outcome: done}
"""


@each_provider("anthropic")
def test_a_page_is_used_by_refs(
    tmp_path: Path, key: str, address: str, path: str, prefix: str
) -> None:
    async def scenario() -> tuple[int | None, bytes, bytes, set[int]]:
        async with ScriptedModelServer([parse_script("page", SCRIPT)]) as provider:
            child = await asyncio.create_subprocess_exec(
                *(DESKHAND, "run", "press the button", "--model", f"{prefix}page", "--json"),
                env={
                    **os.environ,
                    key: provider.api_key,
                    address: f"{provider.url}{path}",
                    "DESKHAND_APPROVAL": "auto",
                    "DESKHAND_DATA_DIR": str(tmp_path / "data"),
                },
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            async with asyncio.timeout(10 * PATIENCE):
                out, err = await child.communicate()
            return child.returncode, out, err, {entry.status for entry in provider.log}

    status, out, err, statuses = asyncio.run(scenario())
    assert status == 0, (out, err)
    # The strict servers have refused nothing.
    assert statuses == {200}
    with closing(sqlite3.connect(tmp_path / "data" / "deskhand.db")) as database:
        rows = database.execute(
            "select action, status, result from steps where tool = 'browser' order by rowid"
        ).fetchall()
    assert [row[:2] for row in rows] == [
        *(("navigate", "done"), ("find", "done"), ("left_click", "done")),
        *(("get_page_text", "done"), ("screenshot", "done"), ("left_click", "failed")),
    ]
    texts = [json.dumps(json.loads(row[2])) for row in rows]
    assert "Sent now" in texts[3]
    assert '"tab_id": "t1"' in texts[3]
    assert "picture" in texts[4]
    assert "ref_99 is stale" in texts[5]
