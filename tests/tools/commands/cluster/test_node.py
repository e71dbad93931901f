"""What keeps a node from starting; tests/cluster starts real ones."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.system.services import DESKHAND
from tests.tools.cluster.certified import Cluster

LIMIT = 60.0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    return Cluster(tmp_path_factory.mktemp("cluster"))


def refused(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """Return why a node does not start."""
    command = [DESKHAND, "node", "--data-dir", str(folder / "data"), *arguments]
    given = {**os.environ, "DESKHAND_RUN_AS": "", **(environment or {})}
    ended = subprocess.run(
        command, env=given, cwd=folder, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert ended.returncode == 4, ended.stderr
    assert ended.stdout == ""
    # As root it says, too, that it stays root.
    return ended.stderr.splitlines()[-1]


@pytest.mark.slow("starts the program eight times")
def test_a_node_needs_an_address_and_the_certificate_of_a_node(
    cluster: Cluster, tmp_path: Path
) -> None:
    place = ("--listen", "127.0.0.1:0")
    own = ("--certificates", str(cluster.folder / "n7"))
    viewers = ("--public-listen", "127.0.0.1:0")
    for arguments, reason in (
        (own, "listen: give the gate's address"),
        ((*own, "--listen", "0.0.0.0:0"), "listen: give one HOST:PORT"),
        (place, "certificates: give the directory"),
        ((*place, "--certificates", str(cluster.folder / "p1")), "is of the plane p1"),
        ((*place, *own, "--name", "n8"), "is of the node n7, not of the node n8"),
        ((*place, *own, "--places", "0"), "places: give 1 to 4096"),
        ((*place, *own, *viewers), "public_listen: tls_cert"),
    ):
        assert reason in refused(tmp_path, *arguments)
    insecure = {"DESKHAND_INSECURE": "1"}
    assert "public_url: give" in refused(tmp_path, *place, *own, *viewers, environment=insecure)


@pytest.mark.slow("starts the program four times")
def test_a_node_refuses_secrets_and_a_ray_without_a_token(cluster: Cluster, tmp_path: Path) -> None:
    whole = ("--listen", "127.0.0.1:0", "--certificates", str(cluster.folder / "n7"))
    ray = ("--cluster", "127.0.0.1:6379")
    token = tmp_path / "token"
    environment = {"RAY_AUTH_TOKEN_PATH": str(token), "HOME": str(tmp_path)}
    reason = refused(tmp_path, *whole, *ray, environment=environment)
    assert f"the token of Ray cannot be read: {token}: No such file" in reason
    token.write_text("secret")
    token.chmod(0o644)
    reason = refused(tmp_path, *whole, *ray, environment=environment)
    assert f"others may read the token of Ray; run chmod 600 {token}" in reason
    (tmp_path / "deskhand.toml").write_text('notify_secret = "0123456789abcdef"\n')
    reason = refused(tmp_path, *whole)
    assert "notify_secret: a node does not use it" in reason
    assert "0123456789" not in reason
