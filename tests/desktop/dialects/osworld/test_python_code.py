import pytest

from deskhand.desktop.dialects.osworld.python_code import LONGEST_CODE, code_of, input_of

PREFIX = "import pyautogui; import time; pyautogui.FAILSAFE = False; "


def test_only_python_with_code_is_read() -> None:
    assert code_of(("python", "-c", "x")) == "x"
    assert code_of(("/usr/bin/python3", "-c", "x")) == "x"
    assert code_of(("perl", "-c", "x")) is None
    assert code_of(("python", "x.py", "y")) is None
    assert code_of(("python", "-c")) is None


@pytest.mark.parametrize(
    ("command", "actions"),
    [
        ("", []),
        ("pass", []),
        ("pyautogui.moveTo()", []),
        (
            "pyautogui.moveTo(3, -4, 0.7, pyautogui.easeInOutQuad)",
            [{"action": "mouse_move", "coordinate": [3, -4], "duration": 0.7}],
        ),
        (
            "pyautogui.click(button='right', x=3, y=4)",
            [{"action": "right_click", "coordinate": [3, 4]}],
        ),
        ('pyautogui.typewrite("it\'s a <tag>")', [{"action": "type", "text": "it's a <tag>"}]),
        (
            "pyautogui.hotkey('ctrl', 'a')\ntime.sleep(0.5)",
            [{"action": "key", "text": "ctrl+a"}, {"action": "wait", "duration": 0.5}],
        ),
        (
            "pyautogui.PAUSE = 1; pyautogui.press('a')",
            [{"action": "key", "text": "a"}, {"action": "wait", "duration": 1}],
        ),
    ],
)
def test_calls_with_literals_become_actions(command: str, actions: object) -> None:
    assert input_of(PREFIX + command) == actions


@pytest.mark.parametrize(
    "command",
    [
        "print(1)",
        "import os",
        "import pyautogui as p",
        "from pyautogui import click",
        "x = 1",
        "pyautogui.PAUSE = x",
        "pyautogui.OTHER = 1",
        "pyautogui.click(x)",
        "pyautogui.click(*[1, 2])",
        "pyautogui.click(**{})",
        "pyautogui.click('picture.png')",
        "pyautogui.moveTo(1, 2, tween=pyautogui.other)",
        "pyautogui.screenshot()",
        "pyautogui.PAUSE(1)",
        "pyautogui.sleep(1)",
        "time.time()",
        "time.click()",
        "os.click()",
        "for x in range(3): pyautogui.click()",
        "'text'",
        "pyautogui.press(",
        "pyautogui.press('\0')\0",
        "pyautogui.moveTo(1e999, 1)",
        "pyautogui.moveTo(1" + "0" * 400 + ", 1)",
    ],
)
def test_all_other_code_is_left_to_python(command: str) -> None:
    assert input_of(PREFIX + command) is None


def test_code_that_nests_deeply_is_left_to_python() -> None:
    assert input_of("(" * 5000) is None
    assert input_of("-" * 100_000 + "1") is None
    assert input_of("#" * (LONGEST_CODE + 1)) is None
