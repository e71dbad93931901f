"""A control plane with its database on a server, as a user starts it."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Timer

import httpx2
import psutil
import pytest

from deskhand.desktop.launch_port.fork_launch import MODE
from deskhand.tools.cluster.member import Member
from deskhand.tools.cluster.moment import MomentaryEvent, read_moment
from deskhand.tools.cluster.trust import ClusterTls
from deskhand.tools.control_plane.service.planes import LivingPeers
from deskhand.tools.store.database import Store
from deskhand.vncbridge.auth.request_headers import PAGE_KEY
from tests.cluster.playing import LIMIT
from tests.live_trees import commands_below, running
from tests.postgres_server import PostgresServer
from tests.system.database_faults import STEPS, StepGate, provider
from tests.system.services import DESKHAND, until
from tests.system.test_database_faults import NAMES, Setting, up
from tests.tools.cluster.certified import Cluster
from tests.tools.oidc.fake_provider import CLIENT, SECRET, small_provider
from tests.tools.store.s3 import s3_service

pytestmark = [pytest.mark.cluster, pytest.mark.x11]

PASSWORD = "a-password-of-the-tests"


@contextmanager
def at_step(server: PostgresServer, tmp_path: Path, held: int) -> Iterator[Setting]:
    """Start an agent on a server's database; return when the command of step ``held`` runs."""
    database = server.database().replace("tester@", f"tester:{PASSWORD}@")
    with (
        StepGate(held) as gate,
        provider(gate.port) as environment,
        up(
            tmp_path / "data",
            tmp_path / "errors.log",
            # Executed, its desktop is below the control plane and has variables of its own.
            {**environment, "DESKHAND_DATABASE": database, MODE: "off"},
        ) as plane,
    ):
        chat_id = plane.tool("spawn_computer_use_agent", prompt="Work.")["chat_id"]
        gate.wait()
        yield Setting(plane, gate, tmp_path / "data", chat_id)


@pytest.mark.slow("an agent with its desktop")
def test_an_agent_works_and_the_password_is_in_no_argument_file_or_variable(
    server: PostgresServer, tmp_path: Path
) -> None:
    with at_step(server, tmp_path, 3) as setting:
        plane = psutil.Process(setting.plane.process.pid)
        # A copy of the control plane has its variables: the decoder, which may read no files.
        commands = commands_below(plane.pid)
        others = [one for one, command in commands.items() if command != plane.cmdline()]
        variables = running(others, psutil.Process.environ)
        assert len(variables) > 3
        for process, command in {**commands, plane: plane.cmdline()}.items():
            assert PASSWORD not in " ".join(command), process
        for process, environ in variables.items():
            assert PASSWORD not in str(environ), process
        setting.gate.release()
        assert setting.result()["outcome"] == "done"
        assert setting.gate.names == NAMES
        report = setting.plane.http.get("/api/v0/system").text
        assert "database" in report
        assert PASSWORD not in report
    assert not (tmp_path / "data" / "deskhand.db").exists()
    texts = [tmp_path / "errors.log", *(tmp_path / "data" / "logs").rglob("*")]
    for file in (one for one in texts if one.is_file()):
        assert PASSWORD not in file.read_text(errors="replace"), file


@pytest.mark.slow("an agent with its desktop, and a server that restarts")
def test_a_restart_of_the_server_refuses_requests_and_costs_no_step(
    server: PostgresServer, tmp_path: Path
) -> None:
    with at_step(server, tmp_path, 3) as setting:
        server.stop("fast")
        setting.gate.release()
        until(lambda: not setting.is_ready(), "a control plane that is not ready")
        answer = setting.plane.http.post("/api/v0/chats", json={"title": "no room"})
        assert answer.status_code == 503, answer.text
        assert int(answer.headers["Retry-After"]) >= 1
        assert PASSWORD not in answer.text
        # Another control plane may have issued this one: that cannot be looked up now.
        unknown = {"Authorization": "Bearer dh_unknown"}
        refused = setting.plane.http.get("/api/v0/chats", headers=unknown)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1"), refused.text
        # The next command must not run: the result of this one is not stored yet.
        assert setting.gate.names == NAMES[:3]
        server.start()
        until(setting.is_ready, "readiness")
        result = setting.result()
        assert (result["outcome"], result["recording_status"]) == ("done", "stored"), result
        assert setting.gate.names == NAMES
        assert [step["status"] for step in setting.chat["steps"]] == ["done"] * STEPS


@pytest.mark.slow("starts a control plane")
def test_another_control_plane_gets_the_text_that_is_written(
    server: PostgresServer, tmp_path: Path
) -> None:
    cluster = Cluster(tmp_path / "authority")
    other = cluster.issue(Member("plane", "p2"))
    database = server.database()
    settings = {
        "DESKHAND_DATABASE": database,
        "DESKHAND_INTERNAL_LISTEN": "127.0.0.1:0",
        "DESKHAND_CERTIFICATES": str(cluster.folder / "p1"),
    }
    with up(tmp_path / "data", tmp_path / "errors.log", settings) as plane:

        def begin() -> str:
            chat = plane.post("/api/v0/chats", {"prompt": "Hello", "model": "scripted:ask"})
            return str(chat["id"])

        chat_id, first = asyncio.run(received(database, other, begin))
        assert (first.chat_id, bool(first.data["text"])) == (chat_id, True)


async def received(
    database: str, tls: ClusterTls, begin: Callable[[], str]
) -> tuple[str, MomentaryEvent]:
    """Return what ``begin`` returns, and the first text that a control plane sends."""
    async with asyncio.timeout(LIMIT), await Store.open(database) as store:
        (address,) = await LivingPeers(store, "p2").read()
        reader, writer = await asyncio.open_connection(
            *(address.host, address.port),
            ssl=tls.client_context,
            server_hostname=address.member.host,
        )
        try:
            # The first line is empty: from then on we get what is written.
            assert read_moment(await reader.readline()) is None
            chat_id = await asyncio.to_thread(begin)
            while (one := read_moment(await reader.readline())) is None or one.kind != "text":
                continue
            return chat_id, one
        finally:
            # `close` would wait for the other end to close TLS. A loop that ends before leaves an
            # open transport, and its ResourceWarning fails the test that runs when it is collected.
            writer.transport.abort()
            await writer.wait_closed()


@pytest.mark.slow("starts two control planes")
def test_a_sign_in_that_begins_at_one_control_plane_ends_at_another(
    server: PostgresServer, tmp_path: Path
) -> None:
    cluster = Cluster(tmp_path / "authority")
    cluster.issue(Member("plane", "p2"))
    with small_provider() as known, s3_service() as bucket, ExitStack() as planes:
        settings = {
            **bucket,
            "DESKHAND_STORE": "s3://deskhand",
            "DESKHAND_DATABASE": server.database(),
            # Nobody listens there: these have no nodes, and need none.
            "DESKHAND_CLUSTER": "127.0.0.1:1",
            "DESKHAND_INTERNAL_LISTEN": "127.0.0.1:0",
            "DESKHAND_NODE_NAMES": "localhost",
            "DESKHAND_OIDC_ISSUER": known.url,
            "DESKHAND_OIDC_CLIENT_ID": CLIENT,
            "DESKHAND_OIDC_CLIENT_SECRET": SECRET,
            "DESKHAND_OIDC_ROLES": "engineers=member",
        }
        one, other = [
            planes.enter_context(
                up(
                    tmp_path / name,
                    tmp_path / f"{name}.log",
                    {**settings, "DESKHAND_CERTIFICATES": str(cluster.folder / name)},
                )
            )
            for name in ("p1", "p2")
        ]
        with httpx2.Client() as browser:
            begun = browser.get(f"{one.url}/login/oidc")
            back = known.sign_in(begun.headers["location"]).replace(one.url, other.url)
            page = browser.get(back)
            assert page.status_code == 200
            code = page.text.partition("#code=")[2].partition('"')[0]
            signed_in = browser.post(f"{other.url}/api/v0/login", json={"code": code})
            browser.headers[PAGE_KEY] = signed_in.json()["page_key"]
            for plane in (other, one):
                person = browser.get(f"{plane.url}/api/v0/people/me").json()
                assert (person["name"], person["role"]) == ("Ada", "member"), plane.url


@pytest.mark.slow("starts a control plane")
def test_a_wrong_certificate_is_reported_in_one_line(
    server: PostgresServer, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "DESKHAND_DATA_DIR": str(tmp_path / "data"),
        "DESKHAND_DATABASE": server.database(),
        "DESKHAND_INTERNAL_LISTEN": "127.0.0.1:0",
        "DESKHAND_CERTIFICATES": str(tmp_path / "none"),
    }
    ended = subprocess.run(
        [DESKHAND, "up"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert ended.returncode == 4
    assert "identity.pem cannot be read: No such file or directory" in ended.stderr


@pytest.mark.slow("an agent with its desktop, and two control planes one after the other")
def test_one_that_is_ended_hands_its_turn_over_between_two_steps(
    server: PostgresServer, tmp_path: Path
) -> None:
    data, log = tmp_path / "data", tmp_path / "errors.log"
    with StepGate(3) as gate, provider(gate.port) as environment:
        settings = {
            **environment,
            "DESKHAND_DATABASE": server.database(),
            "DESKHAND_KEEP_DESKTOPS": "1",
        }
        with up(data, log, settings) as plane:
            chat_id = plane.tool("spawn_computer_use_agent", prompt="Work.")["chat_id"]
            gate.wait()
            # The end of this block sends SIGTERM: the command is cut off if nothing waits for it.
            Timer(0.5, gate.release).start()
        with up(data, log, settings) as plane:
            setting = Setting(plane, gate, data, chat_id)
            result = setting.result()
            assert (result["outcome"], result["recording_status"]) == ("done", "stored"), result
            assert gate.names == NAMES
            assert [step["status"] for step in setting.chat["steps"]] == ["done"] * STEPS
            assert setting.chat["turn"] == 1
            desktop = plane.get("/api/v0/desktops")["desktops"]
            assert [one["chat_id"] for one in desktop] == [chat_id]
