"""Who reaches a gate."""

import asyncio
import ssl
from pathlib import Path

import httpx2
import pytest

from tests.tools.cluster.certified import PLANE, Cluster
from tests.tools.cluster.gate.gates import A, OpenGate, asked, played


def test_a_node_reaches_no_other_node(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        async with gate.client(gate.cluster.n8) as http:
            for path in ("/healthz", "/node", f"/desktops/{A}/healthz"):
                answer = await asked(http, "GET", gate.url + path)
                assert (answer.status_code, answer.json()["code"]) == (403, "peer_refused")
        assert not gate.seen
        assert not gate.received

    played(tmp_path, scenario)


def test_nobody_without_a_certificate_of_the_cluster_gets_an_answer(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        anonymous = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        anonymous.load_verify_locations(tmp_path / "p1" / "ca.pem")
        stranger = Cluster(tmp_path / "other").plane.client_context
        stranger.load_verify_locations(tmp_path / "p1" / "ca.pem")
        for context in (anonymous, stranger):
            async with httpx2.AsyncClient(verify=context, trust_env=False) as http:
                with pytest.raises(httpx2.TransportError):
                    await asked(http, "GET", gate.url + "/healthz")
        async with httpx2.AsyncClient(trust_env=False) as http:
            with pytest.raises(httpx2.TransportError):
                await http.get(f"http://127.0.0.1:{gate.port}/healthz")
        assert not gate.seen

    played(tmp_path, scenario)


def test_a_certificate_that_is_over_opens_nothing(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        old = gate.cluster.issue(PLANE, days=91)
        async with gate.client(old) as http:
            with pytest.raises(httpx2.TransportError):
                await asked(http, "GET", gate.url + "/healthz")

    played(tmp_path, scenario)


def test_connections_that_stay_good_are_not_ended(tmp_path: Path) -> None:
    async def scenario(gate: OpenGate) -> None:
        url = f"{gate.url}/desktops/{A}/api/v0/stream"
        extensions = {"sni_hostname": "n7.node.deskhand.internal"}
        async with gate.http.stream("GET", url, extensions=extensions) as answer:
            assert await anext(answer.aiter_raw()) == b"first\n"
            gate.planes.end_refused()
            await asyncio.sleep(0)
            assert not gate.left.is_set()

    played(tmp_path, scenario)
