"""Typed text arrives exactly, in any script. The long form is bench/soak_typing.py."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.live_trees import commands_below
from tests.system.services import PATIENCE, Service, service, x_display
from tests.system.typing_targets import (
    SHIFT,
    Terminal,
    TextArea,
    TextTarget,
    TextView,
    strike,
    text_area,
    typed,
)

pytestmark = [pytest.mark.x11, pytest.mark.soak]

STRINGS: list[str] = json.loads((Path(__file__).parents[1] / "data" / "typing.json").read_text())
SOME_OF_ALL = "\n".join(STRINGS[1::12])
SINGLES = STRINGS[::13][:40:2]
IDEOGRAPHS = "".join(map(chr, range(0x4E00, 0x4E00 + 300)))
LINE = "zyß@{}[]\\|~€ éàç 日本 Ж 😀\n"
WORLD = "\n".join(STRINGS[-30:-20]) + LINE


class DesktopAndTarget(NamedTuple):
    """A desktop with one target of typed text."""

    desktop: Service
    target: TextTarget


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[DesktopAndTarget, ...]]:
    """A terminal and a browser; each on its own desktop, so that both are typed into at once."""
    with ExitStack() as stack:
        logs = tmp_path_factory.mktemp("desktops")
        first = stack.enter_context(service(logs / "first.log", "desktop"))
        second = stack.enter_context(service(logs / "second.log", "desktop"))
        area = stack.enter_context(text_area(second))
        yield DesktopAndTarget(first, Terminal(first)), DesktopAndTarget(second, area)


def assert_all_arrive(pairs: Sequence[DesktopAndTarget], *texts: str) -> None:
    def wrong(pair: DesktopAndTarget) -> list[str]:
        found = (difference(text, pair.target.received(text)) for text in texts)
        return [one for one in found if one]

    with ThreadPoolExecutor() as threads:
        found = list(threads.map(wrong, pairs))
    assert found == [[]] * len(pairs)


def difference(text: str, found: str) -> str:
    """Describe the difference; empty if there is none."""
    if text == found:
        return ""
    wrong = [(a, b) for a, b in zip(text, found, strict=False) if a != b]
    return f"{len(wrong)} of {len(text)} differ, {len(found)} came; first {wrong[:3]}"


@pytest.mark.slow("a thousand characters into two applications")
def test_strings_of_all_scripts_arrive_at_once(pairs: Sequence[DesktopAndTarget]) -> None:
    assert_all_arrive(pairs, SOME_OF_ALL)


@pytest.mark.slow("many texts into two applications")
def test_strings_arrive_one_by_one(pairs: Sequence[DesktopAndTarget]) -> None:
    assert_all_arrive(pairs, *SINGLES)


@pytest.mark.parametrize("layout", ["de", pytest.param("fr", marks=pytest.mark.full)])
def test_they_arrive_under_another_layout(pairs: Sequence[DesktopAndTarget], layout: str) -> None:
    try:
        for pair in pairs:
            set_layout(pair.desktop, layout)
        assert_all_arrive(pairs, WORLD)
    finally:
        for pair in pairs:
            set_layout(pair.desktop, "us")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LINE, id="a line"),
        pytest.param(WORLD, id="many lines", marks=pytest.mark.full),
    ],
)
def test_they_arrive_while_the_machine_is_busy(
    pairs: Sequence[DesktopAndTarget], text: str
) -> None:
    with busy(2):
        assert_all_arrive(pairs, text)


def test_they_arrive_at_a_program_that_stands_still_for_a_second(
    pairs: Sequence[DesktopAndTarget],
) -> None:
    desktop, terminal = pairs[0]
    commands = commands_below(desktop.ready["pid"]).items()
    (program,) = (process for process, line in commands if line[0] == "xterm")
    program.suspend()
    try:
        with ThreadPoolExecutor() as threads:
            found = threads.submit(terminal.received, IDEOGRAPHS)
            # Keycodes have other meanings only after the program has read the keys before.
            wait([found], 1)
            program.resume()
            assert difference(IDEOGRAPHS, found.result()) == ""
    finally:
        program.resume()


def test_ideographs_arrive_after_a_person_typed_others(
    pairs: Sequence[DesktopAndTarget],
) -> None:
    desktop, terminal = pairs[0]
    assert isinstance(terminal, Terminal)
    for persons in ("x" + IDEOGRAPHS[:30:2], "xéЖλשกक" + IDEOGRAPHS[-9:]):
        asyncio.run(strike(desktop, persons))
        assert desktop.http.delete("/api/v0/desktop/lease").is_success
        typed(desktop, persons + IDEOGRAPHS)
        text = persons + persons + IDEOGRAPHS
        assert difference(text, terminal.arrived(text)) == ""


@pytest.mark.parametrize("held", [(), (SHIFT,)], ids=["", "Shift"])
@pytest.mark.parametrize("locks", ["", "Caps_Lock Num_Lock"], ids=["", "locks"])
def test_keys_of_a_person_are_exact_whatever_is_held_and_locked(
    pairs: Sequence[DesktopAndTarget], held: Sequence[int], locks: str
) -> None:
    text = "abcXYZ12!?é"
    for desktop, target in pairs:
        # The agent's keyboard is the one that was used last.
        assert target.received("before") == "before"
        if locks:
            desktop.act(action="key", text=locks)
        try:
            asyncio.run(strike(desktop, text, held))
            assert desktop.http.delete("/api/v0/desktop/lease").is_success
        finally:
            if locks:
                desktop.act(action="key", text=locks)
        assert isinstance(target, Terminal | TextArea)
        found = target.arrived(text) if isinstance(target, Terminal) else target.held()
        assert found == text


def test_they_arrive_in_a_text_view_of_gtk(tmp_path: Path) -> None:
    # A keyboard that no test before it has touched.
    with service(tmp_path / "errors.log", "desktop") as desktop:
        view = TextView(desktop)
        assert difference(SOME_OF_ALL, view.received(SOME_OF_ALL)) == ""


def test_locks_of_the_keyboard_make_no_difference(tmp_path: Path) -> None:
    text = "abc ABC grüße 12"
    with service(tmp_path / "errors.log", "desktop") as desktop:
        view = TextView(desktop)
        desktop.act(action="key", text="Caps_Lock")
        assert view.received(text) == text


def set_layout(desktop: Service, layout: str) -> None:
    # Commands of a desktop do not change its keyboard.
    display, cookie = x_display(desktop)
    environment = {**os.environ, "DISPLAY": display, "XAUTHORITY": str(cookie)}
    subprocess.run(["setxkbmap", layout], env=environment, check=True)


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
