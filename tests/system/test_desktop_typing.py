"""What is typed arrives exactly, in any script. The long form is bench/soak_typing.py."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.system.services import PATIENCE, Service, service
from tests.system.typing_places import Place, Terminal, text_area

pytestmark = pytest.mark.x11

STRINGS: list[str] = json.loads((Path(__file__).parents[1] / "data" / "typing.json").read_text())
SINGLES = STRINGS[::13][:40:2]
WORLD = "\n".join(STRINGS[-30:-20]) + "zyß@{}[]\\|~€ éàç 日本 Ж 😀\n"


class Desk(NamedTuple):
    """A desktop with one place to type into."""

    desktop: Service
    place: Place


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Desk, ...]]:
    """A terminal and a browser; each on its own desktop, so that both are typed into at once."""
    with ExitStack() as stack:
        logs = tmp_path_factory.mktemp("desktops")
        first = stack.enter_context(service(logs / "first.log", "desktop"))
        second = stack.enter_context(service(logs / "second.log", "desktop"))
        area = stack.enter_context(text_area(second))
        yield Desk(first, Terminal(first)), Desk(second, area)


def assert_all_arrive(desks: Sequence[Desk], *texts: str) -> None:
    def wrong(desk: Desk) -> list[str]:
        return [told for text in texts if (told := difference(text, desk.place.received(text)))]

    with ThreadPoolExecutor() as threads:
        found = list(threads.map(wrong, desks))
    assert found == [[]] * len(desks)


def difference(text: str, found: str) -> str:
    """In words; empty if there is none."""
    if text == found:
        return ""
    wrong = [(a, b) for a, b in zip(text, found, strict=False) if a != b]
    return f"{len(wrong)} of {len(text)} differ, {len(found)} came; first {wrong[:3]}"


def test_strings_of_all_scripts_arrive_at_once(desks: Sequence[Desk]) -> None:
    assert_all_arrive(desks, "\n".join(STRINGS[1::12]))


def test_strings_arrive_one_by_one(desks: Sequence[Desk]) -> None:
    assert_all_arrive(desks, *SINGLES)


@pytest.mark.parametrize("layout", ["de", "fr"])
def test_they_arrive_under_another_layout(desks: Sequence[Desk], layout: str) -> None:
    for desk in desks:
        set_layout(desk.desktop, layout)
    try:
        assert_all_arrive(desks, WORLD)
    finally:
        for desk in desks:
            set_layout(desk.desktop, "us")


def test_they_arrive_while_the_machine_is_busy(desks: Sequence[Desk]) -> None:
    with busy(2):
        assert_all_arrive(desks, WORLD)


def set_layout(desktop: Service, layout: str) -> None:
    started = desktop.post("/api/v0/processes/start", {"command": f"setxkbmap {layout}"})
    path = f"/api/v0/processes/{started['id']}/output?wait=true"
    assert desktop.get(path)["exit_code"] == 0


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Processes that take all time they get."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait(PATIENCE)
