"""Examples that use libraries of other makers."""

import pytest

from tests.interop.clients import ROOT, Clients
from tests.system.services import Service


@pytest.mark.interop_client(
    "openai-agents",
    how="`examples/openai_agents_computer.py`, with URL and token",
    tested="all members of `AsyncComputer`",
)
@pytest.mark.slow("starts a desktop")
def test_an_agents_computer_has_all_its_members(interop: Clients, desktop: Service) -> None:
    recording = "0b8ea81e-2a63-4f0e-9d05-3b4f5f0d6d11"
    desktop.post("/api/v0/desktop/recording/start", {"recording_id": recording})
    interop.run("openai_computer.py", ROOT, desktop.url, desktop.token)
    desktop.post("/api/v0/desktop/recording/stop", {"recording_id": recording})
    steps = desktop.get(f"/api/v0/desktop/recordings/{recording}")["steps"]
    assert [step["action"] for step in steps][:5] == [
        *("left_click", "right_click", "middle_click", "back_click", "forward_click"),
    ]
    assert {"double_click", "scroll", "left_click_drag", "type", "key", "mouse_move"} <= {
        step["action"] for step in steps
    }


@pytest.mark.interop_client(
    "langchain-core",
    how="`examples/langchain_tools.py URL TOKEN`, over MCP",
    tested="the list of tools, and a command",
)
@pytest.mark.slow("starts a desktop")
def test_langchain_lists_and_calls_the_tools(interop: Clients, desktop: Service) -> None:
    program = ROOT / "examples" / "langchain_tools.py"
    printed = interop.run("python", program, desktop.url, desktop.token).stdout
    names, answer = printed.strip().splitlines()
    assert {"computer_look", "computer_act", "execute", "read_file"} <= set(names.split())
    assert "hello" in answer


@pytest.mark.interop_client(
    "cua-speedrun",
    how="`examples/gym_anything_env.py` with its package gym_anything, and `DESKHAND_URL` and "
    "`DESKHAND_TOKEN` for a desktop that runs",
    tested="steps with all actions and pictures, commands and files, as a runner of GymAnythingEnv",
)
@pytest.mark.slow("starts a desktop")
def test_gym_anything_steps_on_a_desktop(interop: Clients, desktop: Service) -> None:
    given = {"DESKHAND_URL": desktop.url, "DESKHAND_TOKEN": desktop.token}
    printed = interop.run("gym_steps.py", ROOT, environment=given).stdout
    assert printed.endswith("done"), printed
