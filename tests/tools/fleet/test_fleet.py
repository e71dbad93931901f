import asyncio
import contextlib
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from deskhand.desktop.launch_port.keeper_records import KeeperRecords
from deskhand.tools.fleet.errors import DesktopNotStarted, UnknownDesktop
from deskhand.tools.fleet.fleet import Fleet
from deskhand.tools.fleet.registry import DesktopRegistry
from deskhand.tools.fleet.sockets import SocketFolder
from tests.tools.control_plane.fakes import LIMIT, local_socket, serving
from tests.tools.fleet.launchers import OWNER, launcher
from tests.tools.fleet.test_registry import entry

A, B = "aaaaaaaa", "bbbbbbbb"


@dataclass(frozen=True)
class Bench:
    """A fleet that adopted processes which are no desktops, but are taken for some."""

    fleet: Fleet
    services: dict[str, subprocess.Popen[bytes]]
    folder: Path
    launched: list[str]
    """Applications in their order."""
    beats: asyncio.Event
    """Set at each request for the status of a desktop."""

    def kill(self) -> None:
        for service in self.services.values():
            service.kill()
            service.wait()


def sleeping() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "1000"])


@contextlib.asynccontextmanager
async def bench(
    folder: Path, *ids: str, unread: Mapping[str, str | None] | None = None, **fields: Any
) -> AsyncIterator[Bench]:
    """Adopt ``ids``, but not ``unread``, which have another address or an entry without fields."""
    left = unread or {}
    app = FastAPI()
    beats = asyncio.Event()

    async def status() -> dict[str, int]:
        beats.set()
        return {"watchers": 0}

    app.add_api_route("/api/v0/desktop", status)
    launched: list[str] = []

    async def launch(body: dict[str, str]) -> dict[str, str]:
        launched.append(body["name"])
        return {}

    app.add_api_route("/api/v0/desktop/display", lambda: {"state": "ready"}, methods=["POST"])
    app.add_api_route("/api/v0/desktop/launch", launch, methods=["POST"])
    bound, address = local_socket()
    entries = DesktopRegistry(folder / "entries")
    entries.prepare()
    services = {name: sleeping() for name in (*ids, *left)}
    for name, service in services.items():
        token = str(entries.write_token(name, "secret"))
        url = left.get(name) or f"http://{address}"
        own = {"id": name, "address": url, "token_file": token, **fields}
        entries.save(replace(entry(service.pid), **own))
        if name in left and left[name] is None:
            (folder / "entries" / f"{name}.json").write_text("{}")
        KeeperRecords(folder / "run", OWNER).add(name, service.pid)
    fleet = Fleet(
        *(entries, launcher(folder / "run"), folder / "run", SocketFolder(folder / "sockets")),
        *(folder / "logs", lambda name: f"/desktops/{name}"),
        heartbeat_seconds=0.01,
    )
    made = Bench(fleet, services, folder, launched, beats)
    try:
        async with asyncio.timeout(LIMIT), serving(app, bound):
            assert set(await fleet.open()) == set(ids)
            try:
                yield made
            finally:
                await fleet.close()
    finally:
        made.kill()


def test_a_display_starts_with_the_applications_of_its_template(tmp_path: Path) -> None:
    async def scenario() -> None:
        templates = tmp_path / "run" / "templates"
        templates.mkdir(parents=True)
        (templates / "office.yaml").write_text("applications: [terminal, browser]")
        async with bench(tmp_path, A, template="office", has_display=False) as b:
            assert not b.fleet.has_display(A)
            await b.fleet.show(A)
            await b.fleet.show(A)
            assert b.launched == ["terminal", "browser"]
            assert b.fleet.has_display(A)

    asyncio.run(scenario())


def test_a_desktop_that_died_is_listed_once_more(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path, A, B) as b:
            for name in (A, B):
                await b.fleet.client(name).status()
            b.kill()
            lists = await asyncio.gather(*(b.fleet.list() for _ in range(4)))
            assert {info.status for found in lists for info in found} == {"lost"}
            assert await b.fleet.list() == ()
            assert list((tmp_path / "entries").iterdir()) == []

    asyncio.run(scenario())


def test_an_adopted_desktop_is_terminated_and_awaited(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path, A) as b:
            await b.fleet.stop(A)
            assert b.services[A].wait() == -signal.SIGTERM
            with pytest.raises(UnknownDesktop):
                await b.fleet.stop(A)

    asyncio.run(scenario())


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", None])
def test_a_desktop_that_cannot_be_adopted_is_named_and_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, address: str | None
) -> None:
    async def scenario() -> None:
        async with bench(tmp_path, A, unread={B: address}) as b:
            assert b.services[B].wait(LIMIT) == -signal.SIGTERM
            assert [record.getMessage() for record in caplog.records] == [
                f"desktop {B} does not answer this version and ends"
            ]
            assert b.services[A].poll() is None
            assert sorted(path.name for path in (tmp_path / "entries").glob("*.json")) == [
                f"{A}.json"
            ]

    asyncio.run(scenario())


def test_a_desktop_that_ended_by_itself_can_be_stopped(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path, A) as b:
            b.kill()
            await b.fleet.stop(A)
            assert not b.fleet.known(A)

    asyncio.run(scenario())


def test_a_start_that_fails_leaves_no_token(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path) as b:
            shutil.rmtree(tmp_path / "logs")
            with pytest.raises(DesktopNotStarted):
                await b.fleet.start("a")
            assert list((tmp_path / "entries").iterdir()) == []

    asyncio.run(scenario())


def test_desktops_are_kept_alive_while_they_are_wanted(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path, A) as b:
            asked = asyncio.Event()
            wanted = [False]

            def keeps_alive() -> bool:
                asked.set()
                return wanted[0]

            b.fleet.keeps_alive = keeps_alive
            for _ in range(2):
                asked.clear()
                await asked.wait()
            # A heartbeat that had begun before has ended at the second question.
            b.beats.clear()
            for _ in range(3):
                asked.clear()
                await asked.wait()
            assert not b.beats.is_set()
            wanted[0] = True
            await b.beats.wait()

    asyncio.run(scenario())


def test_a_template_of_a_desktop_is_known(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with bench(tmp_path, A, template="office") as b:
            assert b.fleet.template_of(A) == "office"
            assert b.fleet.template_of(B) == ""

    asyncio.run(scenario())
