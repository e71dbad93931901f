import pytest

from deskhand.desktop.browser.arguments import refusal_of, refused_switch


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("http://x/", "/tmp/page.html"),
        ("--kiosk", "http://x/"),
        ("--app=http://x/", "--window-size=300,200"),
    ],
)
def test_pages_and_switches_of_the_window_are_passed_on(arguments: tuple[str, ...]) -> None:
    assert refused_switch(arguments) is None


@pytest.mark.parametrize(
    ("argument", "switch"),
    [
        ("--utility-cmd-prefix=/tmp/spy", "--utility-cmd-prefix"),
        ("--renderer-cmd-prefix", "--renderer-cmd-prefix"),
        ("-no-sandbox", "-no-sandbox"),
        ("--user-data-dir=/tmp/x", "--user-data-dir"),
        ("--kiosk-x", "--kiosk-x"),
        ("--", "--"),
        ("-", "-"),
    ],
)
def test_every_other_switch_is_refused(argument: str, switch: str) -> None:
    assert refused_switch(("http://x/", argument)) == switch
    assert refusal_of(switch).startswith(f"not started with {switch}: ")
