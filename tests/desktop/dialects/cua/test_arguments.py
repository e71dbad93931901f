from collections.abc import Callable
from typing import Any

import pytest

from deskhand.desktop.dialects.cua.arguments import flag, number, path, point, text, texts, whole
from deskhand.desktop.dialects.cua.errors import FailedCommand


def test_parameters_are_read() -> None:
    assert text({"a": "b"}, "a") == "b"
    assert text({"a": None}, "a", "c") == "c"
    assert number({"a": 1}, "a") == 1.0
    assert number({}, "a", 2.5) == 2.5
    assert whole({"a": 1.6}, "a") == 2
    assert [flag({"a": value}, "a") for value in (True, False, None)] == [True, False, False]
    assert texts({"a": "b"}, "a") == ["b"]
    assert texts({"a": ["b", "c"]}, "a") == ["b", "c"]
    assert point({"x": 1.4, "y": 2}) == [1, 2]
    assert point({"x": None}) is None
    assert path({"path": [[1, 2], [3.0, 4]]}) == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("read", "sentence"),
    [
        (lambda: text({}, "a"), "a must be a text"),
        (lambda: text({"a": 1}, "a"), "a must be a text"),
        (lambda: number({}, "a"), "a must be a number"),
        (lambda: number({"a": True}, "a"), "a must be a number"),
        (lambda: number({"a": float("inf")}, "a"), "a must be a number"),
        (lambda: number({"a": float("nan")}, "a"), "a must be a number"),
        (lambda: number({"a": 10**400}, "a"), "a must be a number"),
        (lambda: flag({"a": "true"}, "a"), "a must be true or false"),
        (lambda: texts({}, "a"), "a must be a list of texts"),
        (lambda: texts({"a": [1]}, "a"), "a must be a list of texts"),
        (lambda: point({"x": 1}), "y must be a number"),
        (lambda: point({"y": 1}), "x must be a number"),
        (lambda: path({"path": [[1, 2]]}), "two or more points"),
        (lambda: path({"path": "x"}), "two or more points"),
        (lambda: path({"path": [[1, 2], [3]]}), "a list of two numbers"),
        (lambda: path({"path": [[1, 2], 3]}), "a list of two numbers"),
    ],
)
def test_wrong_parameters_are_refused(read: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(FailedCommand, match=sentence):
        read()
