"""The packaged scripts, played by the loop through the official client on a screen of arrays."""

import asyncio
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deskhand.tools.agents.loop.turn import LoopSettings, TurnEnd, run_turn
from deskhand.tools.agents.providers.model_table import model_facts
from deskhand.tools.agents.scripted.script.request import Measured
from deskhand.tools.agents.scripted.server import ScriptedModelServer
from deskhand.tools.conversation.conversation import Image, Text, ToolCall, ToolResult
from tests.tools.agents.loop.fakes import (
    MemoryPictures,
    MemoryTranscript,
    ToolboxOf,
    encoded,
    screen,
    user,
)
from tests.tools.agents.providers.adapters import ADAPTERS, TestedAdapter

TARGETS = [
    (0, 0, "#e6194b"),
    (1916, 0, "#3cb44b"),
    (958, 538, "#4363d8"),
    (0, 1076, "#f58231"),
    (1916, 1076, "#911eb4"),
]
NAME, SEND, DONE = (600, 400, "#00a3a3"), (600, 700, "#808000"), (900, 500, "#006400")


def shrunk(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Scale by 2/3, each pixel the mean of the area it covers."""
    rows = np.stack([(2 * pixels[0::3] + 1.0 * pixels[1::3]), (pixels[1::3] + 2.0 * pixels[2::3])])
    tall = rows.transpose(1, 0, 2, 3).reshape(-1, *pixels.shape[1:]) / 3
    sides = np.stack([2 * tall[:, 0::3] + tall[:, 1::3], tall[:, 1::3] + 2 * tall[:, 2::3]])
    wide = sides.transpose(1, 2, 0, 3).reshape(tall.shape[0], -1, 3) / 3
    return np.asarray(np.floor(wide + 0.5), dtype=np.uint8)


@cache
def screenshot_of(shown: tuple[tuple[int, int, int, int, str], ...]) -> bytes:
    """The encoded screenshot of rectangles and their colours; the same one for each provider."""
    patches = [
        ((x0, y0, x1, y1), (int(rgb[1:3], 16), int(rgb[3:5], 16), int(rgb[5:], 16)))
        for x0, y0, x1, y1, rgb in shown
    ]
    return encoded(shrunk(screen(*patches, size=(1920, 1080), background=(244, 244, 245))))


class Page:
    """The demo's page without a browser: squares one after another, then a form."""

    def __init__(self, pictures: MemoryPictures) -> None:
        self._pictures = pictures
        self.opened: list[str] = []
        self.state = 0
        self.misses = 0
        self.typed: list[str] = []
        self.members: list[str] = []

    async def __call__(self, call: ToolCall) -> ToolResult:
        if call.toolset is None:
            self.opened.append(call.arguments["command"])
            return ToolResult(call.id, (Text(json.dumps({"success": True, "output": "ok"})),))
        self.members.append(call.name)
        if call.name == "left_click":
            self._click(*call.arguments["coordinate"])
        elif call.name in ("type", "key"):
            self.typed.append(call.arguments["text"])
        file_id = f"f{len(self._pictures.pictures)}"
        self._pictures.pictures[file_id] = screenshot_of(tuple(self._shown()))
        shot = Image(file_id, "image/png", 1280, 720)
        return ToolResult(call.id, (Text("Done."), shot), toolset="computer")

    def _shown(self) -> list[tuple[int, int, int, int, str]]:
        if not self.opened or self.state == 0:
            # The browser is not shown yet on the first screenshot.
            self.state = 1 if self.opened else 0
            return []
        if self.state <= len(TARGETS):
            x, y, rgb = TARGETS[self.state - 1]
            return [(x, y, x + 4, y + 4, rgb)]
        if self.state == len(TARGETS) + 1:
            return [(x, y, x + 24, y + 24, rgb) for x, y, rgb in (NAME, SEND)]
        x, y, rgb = DONE
        return [(x, y, x + 90, y + 90, rgb)]

    def _click(self, x: int, y: int) -> None:
        at_x, at_y = int((x + 0.5) * 1.5), int((y + 0.5) * 1.5)
        for left, top, right, bottom, rgb in self._shown():
            if left <= at_x < right and top <= at_y < bottom:
                self.state += rgb != NAME[2]
                return
        self.misses += 1


EACH_PROVIDER = pytest.mark.parametrize(
    "adapter",
    [ADAPTERS[0], *(pytest.param(adapter, marks=pytest.mark.soak) for adapter in ADAPTERS[1:])],
    ids=str,
)
"""A whole script for each provider; the demo itself has the first one."""


async def play(
    adapter: TestedAdapter,
    server: ScriptedModelServer,
    script: str,
    toolbox: ToolboxOf,
    pictures: MemoryPictures,
    task: str,
    *,
    report: bool = True,
) -> tuple[TurnEnd, MemoryTranscript]:
    transcript = MemoryTranscript(user(task))
    model = adapter.open(server, pictures)
    try:
        settings = LoopSettings(adapter.model(script), "Be good.", report=report)
        return await run_turn(transcript, model, toolbox, settings, lambda: 0.0), transcript
    finally:
        await model.close()


@EACH_PROVIDER
def test_the_child_hits_all_squares_and_sends_the_form(adapter: TestedAdapter) -> None:
    async def scenario() -> None:
        pictures = MemoryPictures()
        page = Page(pictures)
        task = "Open http://127.0.0.1:5555/ and do what the page asks."
        async with ScriptedModelServer() as server:
            end, _ = await play(adapter, server, "demo-child", ToolboxOf(page), pictures, task)
            log = server.log
        assert (end.outcome, end.outcome_source) == ("done", "report")
        assert page.opened == ["browser --kiosk http://127.0.0.1:5555/"]
        assert (page.state, page.misses) == (7, 0)
        assert page.members.count("left_click") == 7
        assert page.typed[1] == "Tab"
        assert all(entry.status == 200 for entry in log)
        assert {p for entry in log for p in entry.pictures} == {Measured("image/png", 1280, 720)}
        if not model_facts(adapter.model("demo-child")).bound:
            assert max(len(entry.pictures) for entry in log) <= 10
        assert end.evidence == (end.steps,)

    asyncio.run(scenario())


@EACH_PROVIDER
def test_the_parent_spawns_waits_again_and_quotes_the_report(adapter: TestedAdapter) -> None:
    waits = iter(
        [
            {"chat_id": "k-1", "timed_out": True},
            {"chat_id": "k-1", "report": "All five squares were hit.", "status": "waiting"},
        ]
    )
    seen: list[tuple[str, dict[str, Any]]] = []

    async def answer(call: ToolCall) -> ToolResult:
        seen.append((call.name, call.arguments))
        spawned = call.name == "spawn_computer_use_agent"
        value = {"chat_id": "k-1", "status": "running"} if spawned else next(waits)
        return ToolResult(call.id, (Text(json.dumps(value)),))

    async def scenario() -> None:
        toolbox = ToolboxOf(
            answer, specs=("spawn_computer_use_agent", "wait_agent"), computer=False
        )
        async with ScriptedModelServer() as server:
            end, _ = await play(
                adapter,
                server,
                "demo-parent",
                toolbox,
                MemoryPictures(),
                "Do the job.",
                report=False,
            )
        assert [name for name, _ in seen] == ["spawn_computer_use_agent", *["wait_agent"] * 2]
        assert seen[0][1]["prompt"] == "Do the job."
        assert seen[0][1]["model"] == "scripted:demo-child"
        assert seen[1][1] == {"chat_id": "k-1"}
        assert end.outcome_source == "assumed"
        assert "All five squares were hit." in end.report

    asyncio.run(scenario())


@pytest.mark.parametrize("changes", [True, False])
@EACH_PROVIDER
def test_the_tour_ends_with_any_panel(adapter: TestedAdapter, changes: bool) -> None:
    pictures = MemoryPictures(
        before=encoded(screen()), after=encoded(screen(((0, 0, 600, 400), (0, 0, 0))))
    )
    commands: list[str] = []
    typed: list[str] = []

    async def answer(call: ToolCall) -> ToolResult:
        if call.toolset is None:
            commands.append(call.arguments["command"])
            return ToolResult(call.id, (Text(json.dumps({"output": "Linux 6.1\n"})),))
        if call.name == "type":
            typed.append(call.arguments["text"])
        shown = Image("after" if changes and commands else "before", "image/png", 1280, 720)
        return ToolResult(call.id, (shown,), toolset="computer")

    async def scenario() -> None:
        async with ScriptedModelServer() as server:
            end, _ = await play(
                adapter, server, "tour", ToolboxOf(answer), pictures, "Say 'hi'\nloudly"
            )
        assert (end.outcome, end.outcome_source) == ("done", "report")
        assert commands == ["terminal", "uname -sr"]
        assert typed == ["echo 'Say '\"'\"'hi'\"'\"''"]
        assert "Linux 6.1" in end.report

    asyncio.run(scenario())


async def screenshot(call: ToolCall) -> ToolResult:
    return ToolResult(call.id, (Image("f0", "image/png", 1280, 720),), toolset="computer")


@EACH_PROVIDER
def test_the_answer_of_a_person_is_reported(adapter: TestedAdapter) -> None:
    async def answer(call: ToolCall) -> ToolResult:
        if call.toolset is not None:
            return await screenshot(call)
        assert call.name == "request_human"
        return ToolResult(call.id, (Text(json.dumps({"answer": "Half past nine."})),))

    async def scenario() -> None:
        toolbox = ToolboxOf(answer, specs=("request_human",))
        pictures = MemoryPictures(f0=encoded(screen()))
        async with ScriptedModelServer() as server:
            end, _ = await play(adapter, server, "ask", toolbox, pictures, "When?")
        assert (end.outcome, end.steps, end.evidence) == ("done", 2, (2,))
        assert end.report == "A person answered: Half past nine."

    asyncio.run(scenario())


@EACH_PROVIDER
def test_an_agent_without_a_screen_looks_by_a_command(adapter: TestedAdapter) -> None:
    async def answer(call: ToolCall) -> ToolResult:
        assert (call.name, call.arguments) == ("execute", {"command": "uname -sr"})
        return ToolResult(call.id, (Text(json.dumps({"output": "Linux 6.1\n"})),))

    async def scenario() -> None:
        toolbox = ToolboxOf(answer, computer=False)
        async with ScriptedModelServer() as server:
            end, _ = await play(adapter, server, "look", toolbox, MemoryPictures(), "Find it.")
        assert (end.outcome, end.outcome_source) == ("done", "report")
        assert 'I was asked: "Find it."' in end.report
        assert "Linux 6.1" in end.report

    asyncio.run(scenario())


@EACH_PROVIDER
def test_a_job_is_handed_to_a_child_and_its_report_is_quoted(adapter: TestedAdapter) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []
    replies: list[dict[str, Any]] = [{"timed_out": True}, {"report": "The panel is open."}]
    waits = iter(replies)

    async def answer(call: ToolCall) -> ToolResult:
        asked.append((call.name, call.arguments))
        spawned = {"chat_id": "k-1", "status": "queued"}
        value = spawned if call.name.startswith("spawn") else {"chat_id": "k-1", **next(waits)}
        return ToolResult(call.id, (Text(json.dumps(value)),))

    async def scenario() -> None:
        specs = ("spawn_computer_use_agent", "wait_agent")
        toolbox = ToolboxOf(answer, specs=specs, computer=False)
        async with ScriptedModelServer() as server:
            end, _ = await play(
                adapter, server, "delegate", toolbox, MemoryPictures(), "Open it.", report=False
            )
        assert asked == [
            ("spawn_computer_use_agent", {"prompt": "Open it.", "model": "scripted:tour"}),
            *[("wait_agent", {"chat_id": "k-1"})] * 2,
        ]
        assert end.report == "The agent has finished. It reports: The panel is open."

    asyncio.run(scenario())
