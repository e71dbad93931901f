"""A program of the agent listens over AT-SPI to the browser, reads it, or acts on it."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.attack.widget_spies import Listeners, WidgetSpies
from tests.system.reporting_page import Reports, reporting_page
from tests.system.services import PATIENCE, Service, tidy
from tests.system.typing_targets import TextView

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the level is 'shared' here"),
]

ATSPI = "org.a11y.atspi"
ROOT = "/org/a11y/atspi/accessible/root"
REGISTRY = f"{ATSPI}.Registry"
DENIED = ["error", "org.freedesktop.DBus.Error.AccessDenied"]
PAGE = b"""<!doctype html><title>Page</title><input aria-label=Plain autofocus>
<button onclick="fetch('/press', {method: 'POST'})" onfocus="fetch('/focus', {method: 'POST'})">
Press</button><script>
const field = document.querySelector("input");
field.oninput = (event) => fetch("/typed", {method: "POST", body: event.data});
onload = () => { field.focus(); fetch("/ready", {method: "POST"}); };
</script>"""


CALLS = {
    "focus": (f"{ATSPI}.Component", "GrabFocus", "", "[]"),
    "press": (f"{ATSPI}.Action", "DoAction", "i", "[0]"),
}


@dataclass
class Widgets:
    """Addresses of widgets of the browser, and of one of the agent's own program."""

    field: list[str]
    button: list[str]
    own: list[str]

    @classmethod
    def found(cls, tree: list[list[str]]) -> "Widgets":
        places = {one[2] if one[3] == "" else one[3]: one[:2] for one in tree}
        return cls(places["Plain"], places["Press"], places["text"])


class Spies(WidgetSpies):
    """Spies on a desktop with a page and a program of the agent."""

    def __init__(self, desktop: Service, reports: Reports) -> None:
        super().__init__(desktop)
        self.reports = reports

    def typed(self, character: str) -> None:
        """Type into the field of the page, which must report that and nothing else."""
        field = Widgets.found(self.of_service("tree")).field
        assert self.of_service("call", *field, *CALLS["focus"])[0] == "method_return"
        self.desktop.act(action="type", text=character)
        assert self.reports.get(timeout=PATIENCE) == ("/typed", character)


@pytest.fixture(scope="module")
def spies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spies]:
    errors = tmp_path_factory.mktemp("widgets") / "errors.log"
    with tidy(errors) as desktop, reporting_page(PAGE) as (url, reports):
        found = Spies(desktop, reports)
        TextView(desktop)
        desktop.act(action="type", text="own text")
        desktop.post("/api/v0/processes/start", {"command": f"exec browser {url}"})
        assert reports.get(timeout=3 * PATIENCE)[0] == "/ready"
        yield found


def test_nobody_hears_what_applications_report(spies: Spies) -> None:
    with Listeners(spies) as listeners:
        spies.typed("v")
        of_agent, of_service = listeners.heard()
    assert of_agent == []
    # The control: the bus has delivered the events to the service's user.
    assert "v" in of_service


def test_nobody_reads_the_browser(spies: Spies) -> None:
    spies.typed("r")
    allowed = spies.of_service("tree")
    assert "r" in next(one[4] for one in allowed if one[3] == "Plain")
    found = spies.of_agent("tree")
    places = Widgets.found(allowed)
    assert {places.field[0], places.button[0]}.isdisjoint(one[0] for one in found if any(one[2:]))
    # The control: it reads its own programs.
    assert "own text" in [one[4] for one in found if one[0] == places.own[0]]
    asked = spies.of_agent("call", *places.field, f"{ATSPI}.Text", "GetText", "ii", "[0, -1]")
    assert asked[:2] == DENIED


def test_nobody_acts_on_the_browser(spies: Spies) -> None:
    button = Widgets.found(spies.of_service("tree")).button
    for name, words in CALLS.items():
        assert spies.of_agent("call", *button, *words)[:2] == DENIED
        # The control: the service's user may, and has its answer after that of the other.
        assert spies.of_service("call", *button, *words)[0] == "method_return"
        assert spies.reports.get(timeout=PATIENCE) == (f"/{name}", "")
        assert spies.reports.empty()


def test_an_agent_acts_on_its_own_programs(spies: Spies) -> None:
    own = Widgets.found(spies.of_service("tree")).own
    change = (f"{ATSPI}.EditableText", "SetTextContents", "s", '["changed"]')
    assert spies.of_agent("call", *own, *change) == ["method_return", None, [True]]


def test_nobody_hides_an_application(spies: Spies) -> None:
    browser, _ = Widgets.found(spies.of_service("tree")).field
    plug = json.dumps([[browser, ROOT]])
    spies.of_agent("call", REGISTRY, ROOT, f"{ATSPI}.Socket", "Unembed", "(so)", plug)
    assert browser in [one[0] for one in spies.of_service("tree")]


GENERATED = {
    "GenerateKeyboardEvent": ("isu", '[120, "", 3]'),
    "GenerateMouseEvent": ("iis", '[200, 200, "b1c"]'),
}
"""Calls for the keysym of an x, and for a click."""


def test_the_registry_types_nothing_for_a_client(spies: Spies) -> None:
    place = ("/org/a11y/atspi/registry/deviceeventcontroller", f"{ATSPI}.DeviceEventController")
    for member, words in GENERATED.items():
        spies.of_agent("call", REGISTRY, *place, member, *words)
    spies.typed("w")
