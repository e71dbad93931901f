"""Waits for a condition on a real desktop with a real browser."""

import pytest

from tests.system.reporting_page import reporting_page
from tests.system.services import PATIENCE, Json, Service

pytestmark = [pytest.mark.x11, pytest.mark.browser]

WAIT = "/api/v0/desktop/wait-for"
LEASE = "/api/v0/desktop/lease"
PAGE = b"""<title>Working</title><h1 id=state>Working</h1><script>
addEventListener('click', () => setTimeout(() => {
  state.textContent = 'Finished now'; document.title = 'Ready'; history.pushState(0, '', '#end')
}, 300))</script>"""


def wait(desktop: Service, **wanted: object) -> Json:
    # The answer comes before the client gives up.
    return desktop.post(WAIT, {"timeout_seconds": PATIENCE - 2, **wanted})


@pytest.mark.slow("a browser starts, and waits for it")
def test_text_window_url_process_and_pixels_end_a_wait(desktop: Service) -> None:
    desktop.get("/api/v0/desktop/accessibility")
    with reporting_page(PAGE) as (url, _):
        desktop.post("/api/v0/desktop/open", {"url": url})
        shown = wait(desktop, text="working", window="Working - ", url=url, quiet_ms=300)
        assert shown["met"], shown
        assert shown["screenshot_width"] == 1280
        desktop.act(action="left_click", coordinate=[640, 400])
        done = wait(desktop, text="finished NOW", window="ready", url="#end", screenshot=False)
        assert done["met"], done
        assert "screenshot_data" not in done
        assert done["seen"]["urls"] == [f"{url}#end"]
        # A page that was there before the wait, and does not change in it.
        again = wait(desktop, url="#end", screenshot=False)
        assert (again["met"], again["seen"]["urls"]) == (True, [f"{url}#end"])
    started = desktop.post("/api/v0/processes/start", {"command": "sleep 0.3; xsetroot -solid red"})
    assert wait(desktop, process=started["id"])["met"]


def test_a_timeout_returns_what_was_there(desktop: Service) -> None:
    found = wait(desktop, window="no such window", process=None, timeout_seconds=0)
    assert (found["met"], found["unmet"]) == (False, ["window"])
    assert found["screenshot_data"]
    # What an earlier test has painted, or the wallpaper, may come now.
    quiet = wait(desktop, quiet_ms=1000, screenshot=False)
    assert quiet["met"], quiet
    never = wait(desktop, changed_region=[0, 0, 4, 4], timeout_seconds=0.1)
    assert never["seen"]["changed"] is False


def test_a_process_that_does_not_exist_and_a_wrong_field_are_refused(desktop: Service) -> None:
    assert desktop.post(WAIT, {"process": "none"}, 404)["message"] == "Unknown process."
    assert "titel" in str(desktop.post(WAIT, {"titel": "x"}, 400))


def test_a_person_in_private_ends_a_wait(desktop: Service) -> None:
    taken = {"action": "take", "name": "Ann", "private": True}
    desktop.post(LEASE, taken)
    try:
        assert desktop.post(WAIT, {"window": "x"}, 409)["code"] == "human_in_control"
    finally:
        desktop.post(LEASE, {"action": "release", "name": "Ann"})
