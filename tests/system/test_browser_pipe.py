"""What pages and processes show of how a desktop's browser is started."""

import json

import pytest

from tests.live_trees import commands_below
from tests.system.reporting_page import reporting_page
from tests.system.services import PATIENCE, Service

pytestmark = [pytest.mark.x11, pytest.mark.root]

PAGE = b"""<!doctype html><script>
onload = () => fetch("/seen", { method: "POST", body: JSON.stringify({
  webdriver: navigator.webdriver, above: outerHeight - innerHeight }) });
</script>"""
TOOLBARS = 120
"""CSS pixels of tabs and address bar, without the bar of a warning, which takes 56 more."""


def command_lines(desktop: Service) -> list[str]:
    return [" ".join(command) for command in commands_below(desktop.ready["pid"]).values()]


def test_pages_do_not_see_the_debugging_pipe(desktop: Service) -> None:
    with reporting_page(PAGE) as (url, reports):
        desktop.post("/api/v0/processes/start", {"command": f"exec browser {url}"})
        _, report = reports.get(timeout=4 * PATIENCE)
    seen = json.loads(report)
    browsers = [
        line for line in command_lines(desktop) if url in line and "--remote-debugging-pipe" in line
    ]
    assert browsers
    assert seen["webdriver"] is False
    assert seen["above"] < TOOLBARS
    # No port, which programs of the agent could reach.
    assert not any("--remote-debugging-port" in line for line in command_lines(desktop))
    # No process draws pages of the browser itself, such as suggestions of the address bar.
    assert not any("--top-chrome-webui" in line for line in command_lines(desktop))
