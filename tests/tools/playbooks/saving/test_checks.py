from deskhand.tools.playbooks.playbook import (
    Check,
    FileCheck,
    PlaybookStep,
    RegionCheck,
    StepWait,
    Target,
)
from deskhand.tools.playbooks.saving.checks import checks_of
from deskhand.tools.playbooks.saving.recorded_run import RecordedRun, RunEnd
from deskhand.tools.playbooks.targets.region_hash import region_hash

SCREEN = (1920, 1080)
CLICK = PlaybookStep("click", target=Target(point=(100, 1000)))
KEY = PlaybookStep("key", keys="a")
PICTURE = (64, 36, bytes(range(256)) * 27)


def _checks(end: RunEnd, *steps: PlaybookStep, report: str = "") -> tuple[Check, ...]:
    run = RecordedRun((), report, end)
    return checks_of(run, steps, SCREEN, lambda text: text.replace("Ada", "{name}"))


def test_the_last_awaited_text_or_address_is_a_check() -> None:
    end = RunEnd(("Saved for Ada",), picture=PICTURE)
    waits = (StepWait("{name} is here"), StepWait(url="/done"))
    text, url = (PlaybookStep("wait", wait=wait) for wait in waits)
    assert _checks(end, CLICK, text, report="Saved for Ada") == (Check("{name} is here"),)
    assert _checks(end, CLICK, url, report="Saved for Ada") == (Check(url="/done"),)


def test_the_longest_shown_text_that_the_report_names_is_a_check() -> None:
    end = RunEnd(("Ord", "Saved", "Saved for Ada", "Help", "a" * 101), picture=PICTURE)
    assert _checks(end, CLICK, report=f"saved for ada {'a' * 101}") == (Check("Saved for {name}"),)


def test_downloaded_files_are_checks_beside_a_text() -> None:
    end = RunEnd(("Sent",), ("b.csv", "Ada.txt", ".new", "c.crdownload"), PICTURE)
    files = tuple(Check(file=FileCheck(f"~/Downloads/{name}")) for name in ("{name}.txt", "b.csv"))
    assert _checks(end, CLICK) == files
    assert _checks(end, CLICK, report="Sent.") == (Check("Sent"), *files)
    many = RunEnd(("Sent",), tuple("abcd"))
    assert _checks(many, CLICK, report="Sent.") == (Check("Sent"),)


def test_without_others_the_region_of_the_last_action_is_the_check() -> None:
    end = RunEnd(picture=PICTURE)
    seen = region_hash(*PICTURE, (0, 29, 11, 36))
    box = (0, 865, 340, 1080)
    assert _checks(end, CLICK, KEY) == (Check(region=RegionCheck(box, seen)),)
    dragged = PlaybookStep("drag", target=Target("a", point=(9, 9)), to=Target("b", point=(960, 5)))
    (check,) = _checks(end, CLICK, dragged)
    assert check.region is not None
    assert check.region.box == (720, 0, 1200, 140)


def test_nothing_known_gives_no_check() -> None:
    assert _checks(RunEnd(), CLICK) == ()
    assert _checks(RunEnd(picture=PICTURE), KEY) == ()
    assert _checks(RunEnd(("Saved",)), KEY) == ()
