"""The checks of a playbook that is made of a run. Pure.

A replay must not succeed where the run would not have. So each playbook gets the strongest checks
that the run gives: a text or address that it waited for last, or else a text on its last screen
that its report names; and the files that it has downloaded. Only without any of them the screen
around its last action must look as it did.
"""

from collections.abc import Callable, Sequence

from deskhand.tools.playbooks.playbook import (
    Box,
    Check,
    FileCheck,
    PlaybookStep,
    Point,
    RegionCheck,
)
from deskhand.tools.playbooks.targets.region_hash import region_hash, scaled_box

from .recorded_run import RecordedRun, RunEnd

SHORTEST_CHECK, LONGEST_CHECK = 4, 100
"""Characters of a text on the screen that can be a check."""
MOST_FILES = 3
_UNFINISHED = (".crdownload", ".part", ".tmp")
_SHARE = 8
"""A region reaches this part of the screen's width and height to each side of its point."""


def checks_of(
    run: RecordedRun,
    steps: Sequence[PlaybookStep],
    screen: tuple[int, int],
    parameters_in: Callable[[str], str],
) -> tuple[Check, ...]:
    """Return the checks of a run; none if nothing is known of its end.

    ``screen`` is the size to which points of the steps refer; ``parameters_in`` returns a text
    with parameters in place of their values.
    """
    checks = (*_awaited(steps), *_files(run.end, parameters_in))
    if not any(one.text or one.url for one in checks):
        checks = (*_named(run, parameters_in), *checks)
    return checks or _region(run.end, steps, screen)


def _awaited(steps: Sequence[PlaybookStep]) -> tuple[Check, ...]:
    last = steps[-1].wait
    if last is None or not (last.text or last.url):
        return ()
    return (Check(text=last.text),) if last.text else (Check(url=last.url),)


def _named(run: RecordedRun, parameters_in: Callable[[str], str]) -> tuple[Check, ...]:
    report = run.report.casefold()
    named = [
        one
        for one in run.end.texts
        if SHORTEST_CHECK <= len(one) <= LONGEST_CHECK and one.casefold() in report
    ]
    return (Check(text=parameters_in(max(named, key=len))),) if named else ()


def _files(end: RunEnd, parameters_in: Callable[[str], str]) -> tuple[Check, ...]:
    names = [
        name
        for name in sorted(end.downloads)
        if not name.startswith(".") and not name.endswith(_UNFINISHED)
    ]
    if len(names) > MOST_FILES:
        return ()
    paths = (f"~/Downloads/{parameters_in(name)}" for name in names)
    return tuple(Check(file=FileCheck(path)) for path in paths)


def _region(
    end: RunEnd, steps: Sequence[PlaybookStep], screen: tuple[int, int]
) -> tuple[Check, ...]:
    points = [
        aimed.point for step in steps for aimed in (step.target, step.to) if aimed and aimed.point
    ]
    if not points or end.picture is None:
        return ()
    box = _around(points[-1], screen)
    width, height, rgb = end.picture
    seen = region_hash(width, height, rgb, scaled_box(box, screen, (width, height)))
    return (Check(region=RegionCheck(box, seen)),)


def _around(point: Point, screen: tuple[int, int]) -> Box:
    (x, y), (width, height) = point, screen
    across, down = width // _SHARE, height // _SHARE
    return (
        max(x - across, 0),
        max(y - down, 0),
        min(x + across, width),
        min(y + down, height),
    )
