"""Order in which the workers of pytest-xdist get the tests.

With ``--dist=worksteal`` each worker starts with one block of the list, and one that has nothing
left takes the end of another one's block. Tests of whole services wait more than they compute, and
the others compute more than they wait. So half of the workers begin with the former, the other half
come to them later, and all end with tests that take no time, of which none is left over long.
"""

import random
from collections.abc import Callable, Collection, Hashable, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def ordered(tests: Sequence[T], whole: Callable[[T], bool], workers: int) -> list[T]:
    """Return the tests in the order for so many workers; ``whole`` names tests of whole services.

    Those keep their order: neighbours, which may share a service, stay together.
    """
    found: list[T] = []
    services = _cut([test for test in tests if whole(test)], workers)
    others = _cut([test for test in tests if not whole(test)], workers)
    for number, (long, short) in enumerate(zip(services, others, strict=True)):
        before = len(short) // 2 if number % 2 else 0
        found += [*short[:before], *long, *short[before:]]
    return found


def shuffled(tests: Sequence[T], file: Callable[[T], Hashable], seed: int) -> list[T]:
    """Return the tests of each file in random order, and the files in random order.

    The tests of a file stay together, as they may share what its fixtures start.
    """
    chance = random.Random(seed)
    files: dict[Hashable, list[T]] = {}
    for test in tests:
        files.setdefault(file(test), []).append(test)
    blocks = list(files.values())
    chance.shuffle(blocks)
    for block in blocks:
        chance.shuffle(block)
    return [test for block in blocks for test in block]


def _cut(tests: Sequence[T], parts: int) -> list[Sequence[T]]:
    edges = [len(tests) * part // parts for part in range(parts + 1)]
    return [tests[start:end] for start, end in pairwise(edges)]


def shares(names: Collection[str], shared: Sequence[str]) -> tuple[bool, ...]:
    """Return which of the shared services a test uses, as a key that sorts equal ones together."""
    return tuple(name in names for name in shared)
