"""The daemon of a node, as an operator starts it, and a control plane's client of its gate."""

import json
import os
import signal
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from deskhand.tools.cluster.trust import ClusterTls
from deskhand.tools.fleet.desktop_order import DesktopOrder
from tests.system.services import DESKHAND, PATIENCE
from tests.tools.cluster.certified import Cluster

Json = dict[str, Any]
END_SECONDS = 3 * PATIENCE


@dataclass
class Node:
    """A daemon that answers."""

    process: subprocess.Popen[str]
    ready: Json
    cluster: Cluster

    @property
    def port(self) -> int:
        return int(str(self.ready["url"]).rpartition(":")[2])

    @property
    def host(self) -> str:
        return self.cluster.n7.own.member.host

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)

    def ask(
        self, method: str, path: str, tls: ClusterTls | None = None, **options: Any
    ) -> httpx2.Response:
        context: ssl.SSLContext = (tls or self.cluster.plane).client_context
        url = f"{self.ready['url']}{path}"
        with httpx2.Client(verify=context, trust_env=False, timeout=END_SECONDS) as http:
            return http.request(method, url, extensions={"sni_hostname": self.host}, **options)

    def start(self, desktop_id: str, **fields: Any) -> Json:
        order = DesktopOrder(desktop_id, **fields).to_json()
        answer = self.ask("POST", "/desktops", json=order)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    def json(self, path: str) -> Json:
        answer = self.ask("GET", path)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    def desktops(self) -> list[str]:
        return [str(one["id"]) for one in self.json("/node")["desktops"]]


@contextmanager
def node(
    folder: Path, cluster: Cluster, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[Node]:
    """Run ``deskhand node`` with the certificate of n7 until the block ends."""
    errors = folder / "node.log"
    command = [DESKHAND, "node", "--listen", "127.0.0.1:0", "--data-dir", str(folder / "data")]
    given = ["--certificates", str(cluster.folder / "n7"), *arguments, "--json"]
    with errors.open("a") as log:
        process = subprocess.Popen(
            [*command, *given],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, **(environment or {})},
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"not ready: {errors.read_text()}"
        yield Node(process, json.loads(line), cluster)
    finally:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
