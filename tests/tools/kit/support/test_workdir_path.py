import asyncio
from dataclasses import replace

import pytest

from deskhand.tools.kit.support.workdir_path import absolute_path
from tests.tools.kit.machine import FakeMachine


def located(path: str, below: str = "") -> tuple[str, list[dict[str, str]]]:
    machine = FakeMachine()
    machine.answer("/context-config", {"working_dir": "/srv/a", "parts": []})
    context = replace(machine.context(), workdir=below)
    found = asyncio.run(absolute_path(path, context))
    return found, [dict(asked.params) for asked in machine.asked]


@pytest.mark.parametrize("path", ["/etc/hostname", "~/x", "~"])
def test_a_path_that_is_not_relative_stays(path: str) -> None:
    assert located(path) == (path, [])


def test_a_relative_path_begins_in_the_working_directory() -> None:
    assert located("b/../c.txt") == ("/srv/a/c.txt", [{"parts": "false"}])
    assert located("", "sub")[1] == [{"parts": "false", "workdir": "sub"}]
