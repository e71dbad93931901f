"""An agent reads, after a private session, what the person has copied or selected in it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskhand.desktop.x11.connection import connect as connect_x
from deskhand.desktop.x11.selection import CLIPBOARD, PRIMARY, Selection
from tests.attack.test_private_take_over import LEASE, SECRET, give_back, in_private, typed
from tests.system.services import Service, service, until, x_display
from tests.system.typing_targets import text_area
from tests.system.watching import played
from tests.vncbridge.rfb.client_messages import with_control

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

ROUTE = "/api/v0/desktop/clipboard"


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path / "errors.log", "desktop") as found:
        yield found


def person_copies(desktop: Service) -> None:
    """Take control in private, type a text, select and copy it."""

    async def act() -> None:
        async with in_private(desktop) as socket:
            await typed(socket, SECRET)
            await socket.send(with_control("a") + with_control("c"))
            await asyncio.to_thread(desktop.get, LEASE)

    played(act())


class Reader:
    """A client of the display that pastes."""

    def __init__(self, connection: Any) -> None:
        self._selections = {name: Selection(connection, name) for name in (CLIPBOARD, PRIMARY)}

    def read(self) -> dict[str, bytes]:
        found = {name: one.read(("text/plain",)) for name, one in self._selections.items()}
        return {name: content.data for name, content in found.items() if content is not None}


@pytest.fixture
def reader(desktop: Service) -> Iterator[Reader]:
    connection = connect_x(*x_display(desktop))
    try:
        yield Reader(connection)
    finally:
        connection.disconnect()


@pytest.mark.slow("a browser, and a person who types")
def test_what_a_person_copied_or_selected_in_private_is_gone_after_the_hand_back(
    desktop: Service, reader: Reader
) -> None:
    desktop.http.put(ROUTE, content=b"of the agent").raise_for_status()
    with text_area(desktop):
        person_copies(desktop)
        private = {CLIPBOARD: SECRET.encode(), PRIMARY: SECRET.encode()}
        # The control: until then the person can paste it.
        until(lambda: reader.read() == private, "both selections")
        give_back(desktop)
        assert desktop.http.get(ROUTE).text == "of the agent"
        assert reader.read() == {CLIPBOARD: b"of the agent"}
        # Nothing is kept that a later call would bring back.
        desktop.http.post(f"{ROUTE}/restore")
        assert SECRET not in desktop.http.get(ROUTE).text


def test_what_was_copied_before_a_private_session_stays(desktop: Service, reader: Reader) -> None:
    with text_area(desktop) as area:
        desktop.act(action="type", text="by the browser")
        desktop.act(action="key", text="ctrl+a ctrl+c")
        before = {CLIPBOARD: b"by the browser", PRIMARY: b"by the browser"}
        until(lambda: reader.read() == before, "both selections")
        desktop.post(LEASE, {"action": "take", "name": "Ann", "viewer": "ann"})
        give_back(desktop)
        assert reader.read() == before
        assert area.held() == "by the browser"
