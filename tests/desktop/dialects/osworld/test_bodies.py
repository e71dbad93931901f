from collections.abc import Callable
from typing import Any

import pytest

from deskhand.desktop.dialects.osworld.bodies import (
    CommandBody,
    ScriptBody,
    Verification,
    WindowBody,
    check_names,
    command_of,
    object_of,
    script_of,
    text_of,
    verification_of,
    window_of,
)
from deskhand.desktop.dialects.osworld.errors import BadOsworldRequest


def test_bodies_are_read() -> None:
    assert object_of(b'{"a": 1}') == {"a": 1}
    assert object_of(b"") == {}
    assert command_of({"command": ["a", "b"], "shell": False}) == CommandBody(("a", "b"), False)
    assert command_of({"command": "a", "shell": True}) == CommandBody("a", True)
    assert script_of({"script": "a"}) == ScriptBody("a", 100.0, "")
    long = {"script": "a", "timeout": 1e9, "working_dir": "/tmp"}
    assert script_of(long) == ScriptBody("a", 3600.0, "/tmp")
    assert window_of({"window_name": "a", "strict": True}) == WindowBody("a", True, False)


def test_verifications_are_read() -> None:
    assert verification_of({}) == Verification("", "", 10.0, 1.0)
    body = {
        "verification": {"window_exists": "a", "command_success": ["b"]},
        "max_wait_time": 3,
        "check_interval": 0,
    }
    assert verification_of(body) == Verification("a", ("b",), 3, 0.05)


@pytest.mark.parametrize("body", [b"[]", b"x", b'{"a": "\\ud800"}', b"[" * 100_000])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(BadOsworldRequest):
        object_of(body)


@pytest.mark.parametrize("command", [None, "", [], 5, [5], "a\0", {}])
def test_a_wrong_command_is_refused(command: Any) -> None:
    with pytest.raises(BadOsworldRequest):
        command_of({"command": command})


@pytest.mark.parametrize(
    "body",
    [
        {"script": "a", "timeout": -1},
        {"script": "a", "timeout": True},
        {"script": "a", "timeout": "1"},
        {"script": "a", "timeout": float("nan")},
        {"script": "a", "working_dir": 5},
        {"script": 5},
    ],
)
def test_a_wrong_script_is_refused(body: Any) -> None:
    with pytest.raises(BadOsworldRequest):
        script_of(body)


@pytest.mark.parametrize("wanted", [5, {"window_exists": 5}, {"command_success": 5}])
def test_a_wrong_verification_is_refused(wanted: Any) -> None:
    with pytest.raises(BadOsworldRequest):
        verification_of({"verification": wanted})


def test_a_text_without_nul_is_required() -> None:
    assert text_of({"a": "b"}, "a") == "b"
    for wrong in ("", "a\0b", None):
        with pytest.raises(BadOsworldRequest):
            text_of({"a": wrong}, "a")


@pytest.mark.parametrize(
    "read",
    [
        lambda: check_names({"comand": "ls"}, ("command", "shell")),
        lambda: verification_of({"verification": {"window": "a"}}),
        lambda: command_of({"command": "a", "shell": "yes"}),
        lambda: window_of({"window_name": "a", "strict": 1}),
    ],
)
def test_what_a_route_does_not_read_is_refused(read: Callable[[], Any]) -> None:
    with pytest.raises(BadOsworldRequest):
        read()


def test_a_field_that_is_null_is_not_given() -> None:
    assert command_of({"command": "a", "shell": None}) == CommandBody("a", False)
    check_names({"command": "a"}, ("command", "shell"))
