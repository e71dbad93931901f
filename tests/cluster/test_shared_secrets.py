"""Secrets of two control planes that share one database."""

import asyncio
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from deskhand.tools.secrets.keys import FileSource, StoreKeys
from deskhand.tools.secrets.secret import Secret
from deskhand.tools.secrets.shared import SharedSecrets
from deskhand.tools.secrets.store import SecretStore
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import BadSecret, UnknownRow
from tests.cluster.playing import LIMIT
from tests.postgres_server import PostgresServer

pytestmark = pytest.mark.cluster

HORSE, STAPLE = "correct horse", "battery staple"
MAIL = Secret("mail", HORSE, ("a",), ("mail.example",))
BANK = Secret("bank", STAPLE, anywhere=True)


class Plane:
    """The secrets of one control plane, and what it has announced."""

    def __init__(self, store: Store, folder: Path, key: Path) -> None:
        self.announced: list[str] = []
        self.memory = SecretStore(folder, StoreKeys([FileSource(key)]))
        self.secrets = SharedSecrets(store, self.memory, self.announce)

    async def announce(self, name: str) -> None:
        self.announced.append(name)


def play(url: str, folder: Path, work: Callable[[Plane, Plane], Awaitable[None]]) -> None:
    folders = [folder / name for name in ("one", "other")]
    for each in folders:
        each.mkdir(exist_ok=True)

    async def limited() -> None:
        async with asyncio.timeout(LIMIT), AsyncExitStack() as stack:
            planes = []
            for each in folders:
                store = await stack.enter_async_context(await Store.open(url))
                planes.append(Plane(store, each, folder / "secrets.key"))
                await planes[-1].secrets.open()
            await work(planes[0], planes[1])

    asyncio.run(limited())


def test_what_one_stores_the_other_types_and_masks(database: str, tmp_path: Path) -> None:
    async def work(one: Plane, other: Plane) -> None:
        await one.secrets.put(MAIL)
        assert one.announced == ["secrets:"]
        await other.secrets.reload()
        assert other.memory.given(["a"]) == [MAIL]
        assert other.memory.hide(f"say {HORSE}!") == "say ••••!"
        await other.secrets.remove("mail")
        with pytest.raises(UnknownRow, match="mail"):
            await one.secrets.remove("mail")

    play(database, tmp_path, work)


def test_changes_of_both_at_once_are_all_kept(database: str, tmp_path: Path) -> None:
    async def work(one: Plane, other: Plane) -> None:
        secrets = [Secret(f"s{n}", f"a long value {n}", anywhere=True) for n in range(20)]
        planes = (one, other)
        await asyncio.gather(*(planes[n % 2].secrets.put(s) for n, s in enumerate(secrets)))
        await one.secrets.reload()
        assert {secret.name for secret in one.secrets.listed()} == {s.name for s in secrets}

    play(database, tmp_path, work)


def test_the_secrets_of_a_data_directory_are_taken_over_once(database: str, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    SecretStore(tmp_path / "one", StoreKeys([FileSource(tmp_path / "secrets.key")])).put(BANK)

    async def work(one: Plane, other: Plane) -> None:
        assert list(one.secrets.listed()) == list(other.secrets.listed()) == [BANK]
        assert not (tmp_path / "one" / "secrets.enc").exists()

    play(database, tmp_path, work)
    play(database, tmp_path, work)


def test_a_dump_of_the_database_shows_none(
    postgresql: PostgresServer, database: str, tmp_path: Path
) -> None:
    async def work(one: Plane, other: Plane) -> None:
        await one.secrets.put(MAIL)
        await other.secrets.put(BANK)

    play(database, tmp_path, work)
    dump = subprocess.run(
        [str(postgresql.programs / "pg_dump"), database], capture_output=True, text=True, check=True
    ).stdout
    assert "COPY public.deployment_facts" in dump
    assert "secrets" in dump
    for value in (HORSE, STAPLE, "mail.example"):
        assert value not in dump


def test_without_the_key_a_control_plane_does_not_start(database: str, tmp_path: Path) -> None:
    async def work(one: Plane, _: Plane) -> None:
        await one.secrets.put(MAIL)

    async def stranger() -> None:
        async with await Store.open(database) as store:
            plane = Plane(store, tmp_path / "one", tmp_path / "another.key")
            with pytest.raises(BadSecret, match=r"copy secrets\.key of another control plane"):
                await plane.secrets.open()
            # What it had masked stays masked.
            plane.memory.replace([BANK])
            await plane.secrets.reload()
            assert plane.memory.hide(STAPLE) == "••••"

    play(database, tmp_path, work)
    asyncio.run(stranger())


def test_without_secrets_no_key_is_needed(database: str, tmp_path: Path) -> None:
    async def nothing(_one: Plane, _other: Plane) -> None:
        assert not (tmp_path / "secrets.key").exists()

    async def stranger() -> None:
        async with await Store.open(database) as store:
            plane = Plane(store, tmp_path / "one", tmp_path / "another.key")
            await plane.secrets.open()
            assert plane.secrets.listed() == []

    play(database, tmp_path, nothing)
    asyncio.run(stranger())


def test_what_cannot_be_masked_is_refused_and_changes_nothing(
    database: str, tmp_path: Path
) -> None:
    async def work(one: Plane, _: Plane) -> None:
        await one.secrets.put(MAIL)
        with pytest.raises(BadSecret):
            await one.secrets.put(Secret("short", "a", anywhere=True))
        await one.secrets.reload()
        assert list(one.secrets.listed()) == [MAIL]

    play(database, tmp_path, work)
