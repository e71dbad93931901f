import asyncio
import json
import stat
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from deskhand.tools.credentials.accepted import load_credentials, own_instance, read_token
from deskhand.tools.credentials.database_clock import DatabaseClock
from deskhand.tools.store.database import Store
from deskhand.vncbridge.auth.credentials import Credentials
from deskhand.vncbridge.auth.policy import Principal, digest
from tests.tools.store.fakes import database

FAR = 4_000_000_000.0


def test_the_token_is_made_once_and_is_private(tmp_path: Path) -> None:
    file = tmp_path / "token"
    token = read_token(file)
    assert token.startswith("dh_")
    assert read_token(file) == token
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_empty_token_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("\n")
    with pytest.raises(OSError, match="holds no token"):
        read_token(file)


def with_credentials(folder: Path, work: Callable[[Credentials], Awaitable[None]]) -> None:
    """Start on a data directory, as often as it is called."""

    async def scenario() -> None:
        async with await Store.open(database(folder / "deskhand.db")) as store:
            await work(await load_credentials(store, folder, "dh_owner"))

    asyncio.run(scenario())


@pytest.mark.sqlite
def test_sessions_and_tokens_outlive_a_restart_as_digests_in_the_database(tmp_path: Path) -> None:
    secrets: list[str] = []
    names: set[str] = set()

    async def before(found: Credentials) -> None:
        _, token = await found.issue("ci", ("run:c1:view",), 60.0)
        cookie = await found.sign_in(token)
        assert cookie is not None
        secrets.extend((token, cookie))
        names.add(found.cookie_name)

    async def after(found: Credentials) -> None:
        token, cookie = secrets
        assert {found.cookie_name} == names
        assert [one.name for one in found.issued] == ["ci"]
        assert found.by_token(token) == found.by_cookie(cookie) == Principal("ci", ("run:c1:view",))
        assert found.by_token("dh_owner") == Principal("owner")

    with_credentials(tmp_path, before)
    # Apart from the name of the instance nothing is in a file of its own.
    assert {one.name for one in tmp_path.iterdir()} == {"deskhand.db", "instance"}
    stored = (tmp_path / "deskhand.db").read_bytes()
    for secret in secrets:
        assert secret.encode() not in stored
        assert digest(secret).encode() in stored
    with_credentials(tmp_path, after)


def test_what_was_ended_stays_so_after_a_restart(tmp_path: Path) -> None:
    cookies: list[str] = []

    async def before(found: Credentials) -> None:
        one, token = await found.issue("ci", ("run:c1:view",), None)
        for secret in (token, "dh_owner", "dh_owner"):
            cookie = await found.sign_in(secret)
            assert cookie is not None
            cookies.append(cookie)
        assert await found.revoke(one.id)
        assert not await found.revoke(one.id)
        await found.sign_out(cookies[1])

    async def after(found: Credentials) -> None:
        assert found.issued == ()
        assert [found.by_cookie(one) is None for one in cookies] == [True, True, False]

    with_credentials(tmp_path, before)
    with_credentials(tmp_path, after)


def test_the_file_of_an_earlier_version_becomes_rows(tmp_path: Path) -> None:
    file = tmp_path / "sessions.json"
    session = {"name": "browser", "ends": FAR}
    token = {"id": "t1", "name": "ci", "scopes": ["chat:c1"], "created": 1.0, "ends": None}
    content = {
        "instance": "0123456789abcdef",
        "sessions": {digest("cookie"): session},
        "tokens": [{**token, "digest": digest("dh_ci")}],
    }

    async def work(found: Credentials) -> None:
        assert found.cookie_name == "deskhand_01234567"
        assert found.by_cookie("cookie") == Principal("browser")
        assert found.by_token("dh_ci") == Principal("ci", ("chat:c1",))

    file.write_text(json.dumps(content))
    with_credentials(tmp_path, work)
    assert not file.exists()
    with_credentials(tmp_path, work)
    # Killed before the file was removed, it is read again.
    file.write_text(json.dumps(content))
    with_credentials(tmp_path, work)


@pytest.mark.parametrize("text", ["", '{"instance": ', "[]", '{"sessions": {"a": {"colour": 1}}}'])
def test_a_file_that_cannot_be_read_ends_sessions_and_not_the_start(
    text: str, tmp_path: Path
) -> None:
    (tmp_path / "sessions.json").write_text(text)
    names: set[str] = set()

    async def work(found: Credentials) -> None:
        assert found.by_token("dh_owner") == Principal("owner")
        names.add(found.cookie_name)

    with_credentials(tmp_path, work)
    with_credentials(tmp_path, work)
    assert len(names) == 1


def test_control_planes_of_a_database_share_a_name_of_cookies_and_have_ids_of_their_own(
    tmp_path: Path,
) -> None:
    folders = tmp_path / "first", tmp_path / "second"

    async def scenario() -> None:
        async with await Store.open(database(tmp_path / "deskhand.db")) as store:
            found = []
            for folder in (*folders, *folders):
                folder.mkdir(exist_ok=True)
                clock = DatabaseClock(time.time)
                made = await load_credentials(store, folder, "dh_owner", shared=clock)
                found.append((made.cookie_name, own_instance(folder)))
            assert found[:2] == found[2:]
            (first, own), (second, other) = found[:2]
            assert first == second == f"deskhand_{own[:8]}"
            assert own != other

    asyncio.run(scenario())


@pytest.mark.sqlite
def test_the_id_of_one_machine_is_that_of_its_credentials(tmp_path: Path) -> None:
    async def work(found: Credentials) -> None:
        assert own_instance(tmp_path) == found.instance

    with_credentials(tmp_path, work)
