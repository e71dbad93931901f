"""Reservations in a real Ray, whose nodes are stopped, killed and replaced."""

import signal
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.ray_cluster import Driver, RayCluster, driver, ray_cluster, until

pytestmark = [pytest.mark.cluster, pytest.mark.slow("starts Ray, of several processes")]

GATES = {"n-7": "127.0.0.1:7443"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster() as made:
        made.start_node("n-7", gate=GATES["n-7"])
        yield made


@pytest.fixture
def rooms(cluster: RayCluster) -> Iterator[Driver]:
    with driver(cluster) as made:
        made.result("open")
        until(lambda: made.result("nodes") == GATES, "the node has not joined")
        yield made
        for desktop_id in made.result("reservations"):
            made.result("release", desktop_id)


def test_room_is_reserved_and_released(rooms: Driver) -> None:
    ids = [f"d{number}" for number in range(20)]
    times = [rooms.call("reserve", one, "n-7")["seconds"] for one in ids]
    print(f"a reservation takes {statistics.median(times) * 1000:.1f} ms (median)")
    # What it has is not reserved again.
    rooms.result("reserve", "d0", "n-7")
    assert rooms.result("reservations") == dict.fromkeys(ids, "n-7")
    for one in ids[1:]:
        rooms.result("release", one)
    rooms.result("release", "unknown")
    assert rooms.result("reservations") == {"d0": "n-7"}


def test_a_reservation_stays_when_its_driver_was_killed(cluster: RayCluster, rooms: Driver) -> None:
    with driver(cluster) as other:
        other.result("open")
        other.result("reserve", "d1", "n-7")
    assert rooms.result("reservations") == {"d1": "n-7"}


def test_a_node_that_has_not_joined_has_no_room(rooms: Driver) -> None:
    assert rooms.call("reserve", "d1", "n8")["error"] == "NoReservation"
    assert rooms.result("reservations") == {}
    rooms.result("reserve", "d1", "n-7")


def test_a_stopped_raylet_reserves_nothing_until_it_continues(
    cluster: RayCluster, rooms: Driver
) -> None:
    rooms.result("reserve", "d1", "n-7")
    cluster.signal("n-7", "raylet", signal.SIGSTOP)
    try:
        found = rooms.call("reserve", "d2", "n-7")
        assert found["error"] == "NoReservation", found
        assert "n-7" in found["text"]
    finally:
        cluster.signal("n-7", "raylet", signal.SIGCONT)
    until(lambda: "error" not in rooms.call("reserve", "d2", "n-7"), "no room after it continued")
    assert rooms.result("reservations") == {"d1": "n-7", "d2": "n-7"}


def test_reservations_move_to_the_next_raylet_of_a_node(cluster: RayCluster, rooms: Driver) -> None:
    rooms.result("reserve", "d1", "n-7")
    cluster.signal("n-7", "raylet", signal.SIGKILL)
    until(lambda: rooms.result("nodes") == {}, "the raylet is not known to be dead")
    cluster.ended("n-7")
    cluster.start_node("n-7", gate=GATES["n-7"])
    until(lambda: rooms.result("nodes") == GATES, "the next one has not joined")
    rooms.result("reserve", "d2", "n-7")
    assert rooms.result("reservations") == {"d1": "n-7", "d2": "n-7"}


def test_a_wrong_token_is_named(cluster: RayCluster, tmp_path: Path) -> None:
    wrong = tmp_path / "token"
    wrong.write_text("0" * 32)
    wrong.chmod(0o600)
    with driver(cluster, RAY_AUTH_TOKEN_PATH=str(wrong)) as refused:
        found = refused.call("open")
    assert found["error"] == "RayRefused"
    assert found["text"].startswith(f"Ray at {cluster.address} refuses our token; copy")


def test_ray_without_a_token_is_refused(cluster: RayCluster) -> None:
    with driver(cluster, RAY_AUTH_MODE="") as refused:
        found = refused.call("open")
    assert (found["error"], found["text"][:36]) == (
        "RayRefused",
        "Ray is used with a token only; set R",
    )


def test_a_head_that_does_not_answer_is_named_at_once(cluster: RayCluster) -> None:
    with driver(cluster) as made:
        cluster_address, cluster.address = cluster.address, "127.0.0.1:9"
        try:
            with driver(cluster) as lost:
                found = lost.call("open")
        finally:
            cluster.address = cluster_address
        made.result("open")
    assert found["error"] == "RoomsUnavailable"
    assert found["text"] == "Ray does not answer at 127.0.0.1:9"
