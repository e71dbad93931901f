"""A whole deployment of real parts: PostgreSQL, a bucket, Ray, two control planes, two nodes.

The nodes are hosts of their own (`hosts`); the control planes run on the machine itself.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import psutil

from deskhand.tools.cluster.member import Member
from deskhand.tools.cluster.trust import ClusterTls
from tests.cluster.hosts import Host, Network, network
from tests.cluster.queries import Queries, queries
from tests.cluster.ray_head import HEALTH, RayHead
from tests.cluster.round_robin import RoundRobin
from tests.live_trees import below, commands_below, running
from tests.postgres_server import PostgresServer
from tests.system.certificates import ServerCertificate, server_certificate
from tests.system.services import DESKHAND, PATIENCE, client
from tests.tools.cluster.certified import Cluster
from tests.tools.store.s3 import s3_service

Json = dict[str, Any]
# Ray does not start a head while it sees processes of an earlier one, here also those of the nodes,
# which end after this time.
RECONNECTING = HEALTH | {"gcs_rpc_server_reconnect_timeout_s": 5}
PLACES = 6
NODES = ("n1", "n2")
GATE_PORT, VIEWERS_PORT = 7444, 7445


@dataclass
class Program:
    """A program of the deployment that a test can kill, stop and start again."""

    command: list[str]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[str] = field(init=False)
    ready: Json = field(init=False, default_factory=dict)

    def start(self) -> Json:
        """Start it; return its ready line."""
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self.environment,
            )
        assert self.process.stdout is not None
        try:
            line = self.process.stdout.readline()
            assert line, f"not ready: {self.log.read_text()[-2000:]}"
        except BaseException:
            self.process.kill()
            self.process.wait()
            self.close()
            raise
        self.ready = json.loads(line)
        return self.ready

    @property
    def pid(self) -> int:
        """Of the program itself, below that which starts it on its host."""
        return int(self.ready["pid"])

    def kill(self) -> None:
        """End it by SIGKILL; what it has started continues."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)
        self.close()

    def close(self) -> None:
        """Close what it has written to."""
        if self.process.stdout is not None:
            self.process.stdout.close()

    def end(self) -> None:
        """End it in order, if it has started."""
        if not self.ready:
            return
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGCONT)
                os.kill(self.pid, signal.SIGTERM)
            try:
                self.process.wait(2 * PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.close()


@dataclass
class Node(Program):
    """A node on a host of its own."""

    host: Host = field(kw_only=True)
    data: Path = field(kw_only=True)
    places: int = field(kw_only=True)

    @property
    def gate(self) -> tuple[str, int]:
        """Where control planes reach its gate."""
        return self.host.address, GATE_PORT

    def power_off(self) -> None:
        """Cut the host off and kill all its processes."""
        self.host.set_link("down")
        running(self.processes(), psutil.Process.kill)
        self.process.wait(PATIENCE)
        self.close()

    def processes(self) -> list[psutil.Process]:
        """Return all processes of the host."""
        listed = subprocess.run(
            ["ip", "netns", "pids", self.host.namespace], capture_output=True, text=True, check=True
        )
        found = []
        for pid in map(int, listed.stdout.split()):
            with suppress(psutil.NoSuchProcess):
                # Desktops have network namespaces of their own.
                found += [psutil.Process(pid), *below(pid)]
        return found

    def named(self, name: str) -> list[psutil.Process]:
        """Return the processes of the host whose command line contains a name."""
        commands = running(self.processes(), psutil.Process.cmdline)
        return [process for process, line in commands.items() if name in " ".join(line)]


@dataclass
class Deployment:
    """All parts; ``http`` talks to the control planes in turn."""

    network: Network
    folder: Path
    viewers: ServerCertificate
    """Of the ports of all nodes for viewers."""
    server: PostgresServer
    database: str
    queries: Queries
    planes: list[Program]
    nodes: dict[str, Node]
    head: RayHead
    http: httpx2.Client
    proxy: RoundRobin

    def get(self, path: str) -> Any:
        answer = self.http.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Json) -> Any:
        answer = self.http.post(path, json=body, timeout=90)
        assert answer.is_success, answer.text
        return answer.json()

    def tool(self, name: str, **arguments: Any) -> Json:
        patience = 2 * PATIENCE + arguments.get("timeout_seconds", 0)
        answer = self.http.post(f"/api/v0/tools/{name}", json=arguments, timeout=patience).json()
        assert "result" in answer, answer
        found: Json = answer["result"]
        return found

    def ask_gate(self, node: Node, method: str, path: str, body: Json) -> httpx2.Response:
        """Ask a gate as the first control plane does."""
        member = Member("node", node.host.name)
        host, port = node.gate
        context = ClusterTls(self.certificates).client_context
        with httpx2.Client(verify=context, trust_env=False, timeout=PATIENCE) as http:
            return http.request(
                *(method, f"https://{host}:{port}{path}"),
                json=body,
                extensions={"sni_hostname": member.host},
            )

    @property
    def certificates(self) -> Path:
        """The directory of the first control plane."""
        return self.folder / "cluster" / "p1"

    def at(self, number: int) -> httpx2.Client:
        """Return a client of one control plane."""
        return client(self.planes[number].ready)

    def is_ready(self, number: int) -> bool:
        """Return whether a control plane serves."""
        with self.at(number) as http, suppress(httpx2.HTTPError):
            return bool(http.get("/readyz").status_code == 200)
        return False

    def placers(self) -> list[psutil.Process]:
        """Return the placers of all control planes."""
        commands = {k: v for plane in self.planes for k, v in commands_below(plane.pid).items()}
        return [process for process, line in commands.items() if "cluster.place" in " ".join(line)]

    def use(self, *numbers: int) -> None:
        """Let new connections go to these control planes, which may have been started again."""
        self.proxy.targets[:] = [_port(self.planes[number].ready["url"]) for number in numbers]
        # Connections that are kept open lead to the others.
        http, self.http = self.http, self._client()
        http.close()

    def _client(self) -> httpx2.Client:
        return httpx2.Client(
            base_url=self.proxy.url, headers=self.http.headers, timeout=2 * PATIENCE
        )

    def rows(self, query: str) -> list[list[str]]:
        """Return what a query finds in the database."""
        return self.queries.rows(query)

    def desktops(self) -> dict[str, Json]:
        """Return the desktops by their ids."""
        return {one["id"]: one for one in self.get("/api/v0/desktops")["desktops"]}


@contextmanager
def deployment(
    server: PostgresServer,
    folder: Path,
    environment: Mapping[str, str],
    planes: int = 2,
    places: int = PLACES,
    net: Network | None = None,
) -> Iterator[Deployment]:
    """Run a deployment until the block ends; ``environment`` is added to that of the planes.

    Each node has so many ``places``. Its hosts are those of ``net``, if given, `NODES`.
    """
    folder.chmod(0o711)
    with ExitStack() as stack:
        net = net or stack.enter_context(network(NODES))
        bucket = stack.enter_context(s3_service())
        cluster = Cluster(folder / "cluster")
        names = [host.address for host in net.hosts.values()]
        viewers = server_certificate(folder / "viewers", *names)
        token = folder / "ray-token"
        token.write_text("0123456789abcdef" * 4)
        token.chmod(0o600)
        ray = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
        common = {**os.environ, **ray, "DESKHAND_EGRESS": "open", "DESKHAND_FORK_SERVER": "off"}
        # Sockets below a longer path could not be bound; pids in it have four to seven digits.
        sockets = stack.enter_context(
            TemporaryDirectory(prefix="dh-ray-", ignore_cleanup_errors=True)
        )
        log = folder / "head.log"
        head = RayHead(net.address, Path(sockets), log, common, health=RECONNECTING)
        stack.callback(head.kill)
        head.start()
        nodes = {
            name: _node(stack, cluster, folder, host, head.address, common, index, places, viewers)
            for index, (name, host) in enumerate(net.hosts.items())
        }
        database = server.database()
        shared = {
            **common,
            **bucket,
            "DESKHAND_DATABASE": database,
            "DESKHAND_CLUSTER": head.address,
            "DESKHAND_STORE": "s3://deskhand",
            "DESKHAND_INTERNAL_LISTEN": f"{net.address}:0",
            "DESKHAND_NODE_NAMES": ",".join(f"{name}:{VIEWERS_PORT}" for name in names),
            **environment,
        }
        _make_bucket(bucket)
        made = [_plane(stack, cluster, folder, f"p{n + 1}", shared) for n in range(planes)]
        proxy = stack.enter_context(RoundRobin([_port(one.ready["url"]) for one in made]))
        with client(made[0].ready) as first:
            wanted = {"name": "tests", "scopes": ["admin"]}
            issued = first.post("/api/v0/tokens", json=wanted).json()["token"]
        headers = {"Authorization": f"Bearer {issued}"}
        http = httpx2.Client(base_url=proxy.url, headers=headers, timeout=2 * PATIENCE)
        asked = stack.enter_context(queries(database))
        found = Deployment(
            *(net, folder, viewers, server, database, asked, made, nodes, head, http, proxy)
        )
        try:
            yield found
        finally:
            # `use` may have replaced it.
            found.http.close()


def data_of(folder: Path, node: str) -> Path:
    """Return the data directory of a node in the folder of a deployment."""
    return folder / f"data-{node}"


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])


def _node(
    stack: ExitStack,
    cluster: Cluster,
    folder: Path,
    host: Host,
    head: str,
    environment: Mapping[str, str],
    index: int,
    places: int,
    viewers: ServerCertificate,
) -> Node:
    cluster.issue(Member("node", host.name))
    data, run = data_of(folder, host.name), folder / f"run-{host.name}"
    run.mkdir(mode=0o711)
    command = [
        *(DESKHAND, "node", "--listen", f"{host.address}:{GATE_PORT}", "--cluster", head),
        *("--places", str(places), "--certificates", str(cluster.folder / host.name)),
        *("--data-dir", str(data), "--public-listen", f"{host.address}:{VIEWERS_PORT}"),
        *("--public-url", f"wss://{host.address}:{VIEWERS_PORT}"),
        *("--tls-cert", str(viewers.cert), "--tls-key", str(viewers.key)),
        *("--keep-desktops", "--json"),
    ]
    uid_base = str(2_010_000_000 + 1_000_000 * index)
    own = {**environment, "DESKHAND_RUN_DIR": str(run), "DESKHAND_UID_BASE": uid_base}
    log = folder / f"{host.name}.log"
    node = Node(host.command(*command), own, log, host=host, data=data, places=places)

    def end() -> None:
        node.end()
        running(node.processes(), psutil.Process.kill)

    stack.callback(end)
    node.start()
    return node


def _plane(
    stack: ExitStack, cluster: Cluster, folder: Path, name: str, environment: Mapping[str, str]
) -> Program:
    cluster.issue(Member("plane", name))
    run = folder / f"run-{name}"
    run.mkdir(mode=0o711)
    own = {
        **environment,
        "DESKHAND_CERTIFICATES": str(cluster.folder / name),
        "DESKHAND_RUN_DIR": str(run),
    }
    data = str(folder / f"data-{name}")
    command = [DESKHAND, "up", "--data-dir", data, "--listen", "127.0.0.1:0", "--json"]
    plane = Program(command, own, folder / f"{name}.log")
    stack.callback(plane.end)
    plane.start()
    return plane


def _make_bucket(bucket: Mapping[str, str]) -> None:
    answer = httpx2.put(f"{bucket['AWS_ENDPOINT_URL']}/deskhand", content=b"")
    assert answer.is_success, answer.text
