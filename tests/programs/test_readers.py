"""A program that reads pointer and screen: pyautogui."""

import pytest

from tests.programs.editors import output, shared_folder, skip_without
from tests.system.services import Service

pytestmark = [pytest.mark.programs, pytest.mark.x11]


def answer(desktop: Service, statement: str) -> str:
    """Return what a statement prints, or the last line of its errors."""
    folder = shared_folder(desktop)
    program = f"PYTHONPATH={folder} python3 -c 'import pyautogui; {statement}'"
    return output(desktop, f"{program} 2>&1 | tail -n 1").strip()


@pytest.fixture(autouse=True)
def installed() -> None:
    skip_without("pyautogui", "python3-xlib", "python3-pil", "python3-tk")


def test_it_reads_the_position_and_the_size(desktop: Service) -> None:
    desktop.act(action="mouse_move", coordinate=[321, 123], coordinate_space="native")
    assert answer(desktop, "print(*pyautogui.position())") == "321 123"
    assert answer(desktop, "print(*pyautogui.size())") == "1920 1080"


def test_it_takes_pictures_and_moves_the_pointer_where_no_filter_is(desktop: Service) -> None:
    level = desktop.get("/api/v0/desktop")["level"]
    desktop.act(action="mouse_move", coordinate=[321, 123], coordinate_space="native")
    picture = answer(desktop, "print(pyautogui.screenshot().size)")
    moved = answer(desktop, "pyautogui.moveTo(50, 60)")
    position = answer(desktop, "print(*pyautogui.position())")
    if level == "user":
        # It asks scrot, which gets no picture of the screen.
        assert picture.startswith("FileNotFoundError")
        assert (moved, position) == ("KeyError: 'XTEST'", "321 123")
    else:
        assert (picture, moved, position) == ("(1920, 1080)", "", "50 60")
