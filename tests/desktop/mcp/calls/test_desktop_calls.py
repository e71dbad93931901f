import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from deskhand.desktop.errors import DesktopRefused, DesktopUnavailable
from deskhand.desktop.mcp.calls.desktop_calls import DesktopCalls
from deskhand.desktop.mcp.calls.seen_screens import SeenScreens
from deskhand.desktop.mcp.errors import McpError, UnknownMcpTool
from deskhand.desktop.mcp.selection import ToolSelection
from deskhand.desktop.mcp.tool_table import DESKTOP_TOOLS
from tests.desktop.mcp.fakes import FakeDesktop

LIST = "GET /api/v0/processes/list"
START = "POST /api/v0/processes/start"


def calls(fake: FakeDesktop, selection: ToolSelection | None = None) -> DesktopCalls:
    return DesktopCalls(fake, SeenScreens(), "me", selection or ToolSelection())


def test_all_tools_of_the_table_are_served() -> None:
    served = calls(FakeDesktop())
    assert served.tools() == DESKTOP_TOOLS
    assert "computer_look" in served.instructions
    for tool in DESKTOP_TOOLS:
        # Without a reply each call ends in the fake, which has no such route, or in a refusal.
        try:
            found = asyncio.run(served.call(tool.name, {}))
        except KeyError:
            continue
        assert found.is_error, tool.name


def test_a_tool_that_is_not_offered_is_unknown() -> None:
    served = calls(FakeDesktop(), ToolSelection(read_only=True))
    with pytest.raises(UnknownMcpTool, match="execute"):
        asyncio.run(served.call("execute", {"command": "x"}))


def test_failures_are_results_that_say_what_to_do() -> None:
    refused = DesktopRefused(409, "The desktop is in use.", "Ann is in control", "human_in_control")
    served = calls(FakeDesktop({LIST: refused}))
    found = asyncio.run(served.call("process_list", {}))
    assert (found.is_error, found.text[:32]) == (True, "human_in_control: Ann is in cont")
    assert found.content["code"] == "human_in_control"
    gone = calls(FakeDesktop({LIST: DesktopUnavailable("closed")}))
    assert "cannot be reached (closed)" in asyncio.run(gone.call("process_list", {})).text
    wrong = asyncio.run(served.call("execute", {}))
    assert wrong.text == "Nothing was done: command is required"
    recordings = FakeDesktop({"GET /api/v0/desktop/recordings": {"recordings": []}})
    stopped = asyncio.run(calls(recordings).call("recording", {"action": "stop"}))
    assert stopped.text == "no recording of yours runs."


def test_what_changes_anything_becomes_a_step_with_its_error() -> None:
    steps: list[tuple[str, str, str]] = []

    @contextmanager
    def step(tool: str, title: str) -> Iterator[None]:
        try:
            yield
        except DesktopRefused as error:
            steps.append((tool, title, str(error)))
            raise
        steps.append((tool, title, ""))

    refused = DesktopRefused(500, "No shell.")
    fake = FakeDesktop({START: [{"id": "p1"}, refused], LIST: {"processes": []}})
    served = DesktopCalls(fake, SeenScreens(), "me", ToolSelection(), step=step)
    background = {"command": "ls", "run_in_background": True}
    asyncio.run(served.call("execute", background))
    asyncio.run(served.call("execute", background))
    asyncio.run(served.call("process_list", {}))
    assert steps == [
        ("mcp.execute", "execute: ls", ""),
        ("mcp.execute", "execute: ls", "No shell."),
    ]


def test_the_screen_and_the_recordings_are_resources() -> None:
    one = {"id": "r1", "status": "stored", "label": "demo"}
    fake = FakeDesktop(
        {
            "GET /api/v0/desktop/recordings": {"recordings": [one, {**one, "label": ""}]},
            "GET /api/v0/desktop/recordings/r1": {"steps": []},
            "GET /api/v0/desktop/screenshot": b"png",
        }
    )
    served = calls(fake)
    listed = asyncio.run(served.resources())
    assert [one["uri"] for one in listed[:2]] == [
        "deskhand://desktop/screenshot",
        "deskhand://recordings/r1",
    ]
    assert [one["title"] for one in listed] == ["The screen now", "demo", "Recording"]
    screen = asyncio.run(served.read("deskhand://desktop/screenshot"))
    assert screen == {"mimeType": "image/png", "blob": "cG5n"}
    steps = asyncio.run(served.read("deskhand://recordings/r1"))
    assert steps["text"].endswith("0 steps:")
    with pytest.raises(McpError, match="no resource"):
        asyncio.run(served.read("deskhand://nothing"))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DesktopRefused(409, "x", "Ann is in control", "human_in_control"), "human_in_control"),
        (DesktopUnavailable("closed"), "cannot be reached: closed"),
    ],
)
def test_a_resource_that_cannot_be_read_is_an_error(error: Exception, text: str) -> None:
    served = calls(FakeDesktop({"GET /api/v0/desktop/screenshot": error}))
    with pytest.raises(McpError, match=text):
        asyncio.run(served.read("deskhand://desktop/screenshot"))


def test_a_desktop_has_no_agents_to_answer() -> None:
    with pytest.raises(McpError, match="no agent"):
        asyncio.run(calls(FakeDesktop()).answer("c1", "yes"))
