"""Waits of the Python client for what a real screen shows."""

import pytest

from deskhand import Desktop, ExpectationFailed, expect
from tests.system.services import PATIENCE, Service

pytestmark = pytest.mark.x11

ORANGE = "#fe8102"


def test_a_window_and_its_colour_are_awaited_and_missed(desktop: Service) -> None:
    with Desktop.connect(desktop.url, desktop.token) as computer:
        command = f"xterm -T awaited -bg '{ORANGE}'"
        computer.applications.launch_command(command, "-e", "cat")
        found = computer.wait_until(window="awaited", colour=ORANGE, timeout=PATIENCE)
        assert found.picture.to_pil().size == found.picture.size
        assert repr(found.picture).startswith("Picture(png, ")
        (window,) = [one for one in computer.windows.list() if one.title == "awaited"]
        expect(computer, timeout=PATIENCE).to_have_colour(ORANGE, window.region)
        computer.windows.close(window.id)
        with pytest.raises(ExpectationFailed, match=r"no colour #010305 in 0\.1 s"):
            expect(computer, timeout=0.1).to_have_colour("#010305")
        with pytest.raises(ExpectationFailed, match="no window"):
            expect(computer, timeout=0.1).to_have_window("nothing of that name")


def test_the_address_of_the_live_view_signs_in(desktop: Service) -> None:
    with Desktop.connect(desktop.url, desktop.token) as computer:
        address = computer.show(open_browser=False)
    code = address.removeprefix(f"{desktop.url}/login#code=")
    desktop.post("/api/v0/login", {"code": code}, 200)
