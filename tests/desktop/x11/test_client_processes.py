"""The processes of X clients that are behind a filter."""

import os
from collections.abc import Iterator

import pytest

from deskhand.desktop.x11.client_processes import ClientProcesses

MASK = 0x1FFFFF


@pytest.fixture
def table() -> Iterator[ClientProcesses]:
    made = ClientProcesses.empty()
    yield made
    made.close()


def test_both_sides_find_the_process_of_a_resource(table: ClientProcesses) -> None:
    other = ClientProcesses(os.dup(table.descriptor))
    other.note(0x600000, MASK, 77)
    other.note(0xFFE00000 >> 3, MASK, 2_000_000)
    other.close()
    assert table.find(0x600000, MASK) == table.find(0x600000 | MASK, MASK) == 77
    assert table.find(0x1FFFFFFF, MASK) == 2_000_000
    assert table.find(0x800000, MASK) == 0


def test_a_client_that_has_gone_has_no_process(table: ClientProcesses) -> None:
    table.note(0x600000, MASK, 77)
    table.note(0x600000, MASK, 0)
    assert table.find(0x600000, MASK) == 0
    table.note(0x800000, MASK, 78)
    table.clear()
    assert table.find(0x800000, MASK) == 0


def test_ids_of_the_server_and_impossible_ones_have_no_process(table: ClientProcesses) -> None:
    for resource in (0, 1, MASK, 2048 << 21):
        table.note(resource, MASK, 77)
        assert table.find(resource, MASK) == 0
