"""A program of the agent answers over AT-SPI with more than a service should keep."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack.test_imitated_page import TREE, library
from tests.system.services import PATIENCE, Service, service, service_pid, until

pytestmark = [pytest.mark.attack, pytest.mark.x11]

PROGRAM = Path(__file__).parents[1] / "data" / "hostile_widgets.py"
MOST_GROWTH = 80 << 10
"""KiB by which the service may grow at most, also for a moment."""


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    """A desktop that follows the focus from the start."""
    with service(tmp_path / "errors.log", "desktop") as found:
        found.get(TREE)
        yield found


def largest(desktop: Service) -> int:
    """Return the largest resident size so far, in KiB."""
    status = Path(f"/proc/{service_pid(desktop.ready['pid'])}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def started(desktop: Service, what: str) -> None:
    work = Path(desktop.post("/api/v0/processes/start", {"command": "pwd"})["workdir"])
    for name, content in (("jeepney.zip", library()), (PROGRAM.name, PROGRAM.read_bytes())):
        path = {"path": f"{work}/{name}"}
        desktop.http.post("/api/v0/write-file", params=path, content=content).raise_for_status()
    words = ("python3", work / PROGRAM.name, work / "jeepney.zip", what)
    body = {"command": f"exec {shlex.join(map(str, words))}", "background": True}
    output = f"/api/v0/processes/{desktop.post('/api/v0/processes/start', body)['id']}/output"
    until(lambda: "ready" in desktop.http.get(output).json()["output"], what, 3 * PATIENCE)


@pytest.mark.slow("many bytes of answers")
@pytest.mark.parametrize(
    ("what", "cut"), [("names", ["bytes"]), ("roles", ["bytes"]), ("children", ["children"])]
)
def test_a_tree_of_long_answers_does_not_grow_the_service(
    desktop: Service, what: str, cut: list[str]
) -> None:
    before = largest(desktop)
    started(desktop, what)
    # The control: the program is an application of the tree.
    found = desktop.http.get(TREE, timeout=3 * PATIENCE).json()
    assert "hostile" in [one.get("name") for one in found["applications"]]
    assert largest(desktop) - before < MOST_GROWTH
    assert not found["complete"]
    assert set(cut) <= set(found["cut"])


@pytest.mark.slow("many signals")
def test_many_focused_widgets_do_not_grow_the_service(desktop: Service) -> None:
    before = largest(desktop)
    started(desktop, "focus")
    # The focus is answered after the signals before.
    desktop.act(action="type", text="x")
    assert largest(desktop) - before < MOST_GROWTH
