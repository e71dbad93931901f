import pytest

from deskhand.desktop.browser.policy import BrowserLaunch
from deskhand.tools.commands.diagnosis.software import (
    FONTS,
    LIBRARIES,
    PROGRAMS,
    browser_findings,
    font_findings,
    library_findings,
    program_findings,
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_missing_program_is_reported_with_its_package(name: str) -> None:
    found = list(program_findings(lambda one: None if one == name else f"/bin/{one}"))
    (broken,) = (one for one in found if one.status != "ok")
    package, severity = PROGRAMS[name]
    assert (broken.name, broken.status) == (name, severity)
    assert broken.remedy == f"apt-get install {package}"
    assert len(found) == len(PROGRAMS)


@pytest.mark.parametrize("name", FONTS)
def test_a_missing_font_is_a_warning(name: str) -> None:
    found = list(font_findings(" ".join(one for one in FONTS if one != name)))
    (broken,) = (one for one in found if one.status != "ok")
    assert (broken.name, broken.status) == (f"font {name}", "warn")
    assert broken.remedy == f"apt-get install {FONTS[name]}"


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_package_is_a_failure(name: str) -> None:
    (broken,) = library_findings(lambda one: one != name)
    assert (broken.name, broken.status) == (f"library {name}", "fail")


def test_a_missing_accelerator_is_a_warning() -> None:
    (broken,) = library_findings(lambda one: one != "isal")
    assert (broken.name, broken.status) == ("library isal", "warn")
    assert not list(library_findings(lambda _: True))


@pytest.mark.parametrize(
    ("wanted", "remedy"),
    [("", "apt-get install chromium"), ("no-such", "correct the setting browser")],
)
def test_a_missing_browser_is_a_warning(wanted: str, remedy: str) -> None:
    launch = BrowserLaunch(None, "auto", False, refusal="no browser is installed")
    (found,) = browser_findings(launch, wanted)
    assert (found.status, found.detail, found.remedy) == (
        "warn",
        "no browser is installed",
        remedy,
    )


@pytest.mark.parametrize(
    ("launch", "status", "remedy"),
    [
        (BrowserLaunch("/b", "auto", True), "ok", ""),
        (BrowserLaunch("/b", "off", False, reason="as set"), "warn", ""),
        (
            BrowserLaunch("/b", "auto", False, reason="no namespaces"),
            "warn",
            "allow user namespaces",
        ),
        (
            BrowserLaunch("/b", "required", False, "no namespaces", "it is required"),
            "fail",
            "allow user namespaces, or set browser_sandbox to auto",
        ),
    ],
)
def test_a_browser_without_a_sandbox_is_reported(
    launch: BrowserLaunch, status: str, remedy: str
) -> None:
    program, sandbox = browser_findings(launch, "")
    assert (program.status, program.detail) == ("ok", "/b")
    assert (sandbox.name, sandbox.status, sandbox.remedy) == ("browser sandbox", status, remedy)
