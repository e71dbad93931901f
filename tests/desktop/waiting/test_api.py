"""The route of waits: the process of a wait is one that its caller may see."""

from typing import cast

import pytest
from fastapi import HTTPException, Request

from deskhand.desktop.processes.errors import UnknownProcess
from deskhand.desktop.processes.registry import Registry
from deskhand.desktop.waiting.api import process_of


class NoProcesses:
    def find(self, process_id: str, chat: object) -> object:
        raise UnknownProcess(process_id)


def request(*headers: tuple[bytes, bytes]) -> Request:
    return Request({"type": "http", "headers": list(headers)})


@pytest.mark.parametrize(
    ("headers", "status"), [((), 404), (((b"deskhand-chat-id", b"no uuid"),), 400)]
)
def test_a_process_that_the_caller_cannot_see_is_refused(
    headers: tuple[tuple[bytes, bytes], ...], status: int
) -> None:
    with pytest.raises(HTTPException) as refused:
        process_of(cast(Registry, NoProcesses()), request(*headers), "p1")
    assert refused.value.status_code == status
