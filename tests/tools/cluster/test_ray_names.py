"""Names by which nodes are found in Ray."""

import re

import pytest

from deskhand.tools.cluster.errors import BadMember
from deskhand.tools.cluster.ray_names import (
    GATE_LABEL,
    NODE_LABEL,
    bundle_of,
    labels_of,
    node_and_gate,
    node_of_bundle,
    resources_of,
)

OF_A_VALUE = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?")


def test_a_node_has_its_places_twice() -> None:
    assert resources_of("n-7", 80) == {"desk": 80, "desk_n-7": 80}


def test_a_desktop_takes_a_place_of_its_node() -> None:
    assert bundle_of("n7") == {"desk": 1.0, "desk_n7": 1.0}
    assert node_of_bundle(bundle_of("n7")) == "n7"
    assert node_of_bundle({"CPU": 1.0}) == ""


@pytest.mark.parametrize("address", ["10.0.0.5:7443", "[fd00::5]:7443", "[::1]:1", "n7.example:7"])
def test_the_address_of_a_gate_is_read_as_it_was_written(address: str) -> None:
    labels = labels_of("n-7", address)
    assert all(OF_A_VALUE.fullmatch(value) for value in labels.values())
    assert node_and_gate(labels) == ("n-7", address)


def test_other_nodes_of_ray_are_no_nodes() -> None:
    assert node_and_gate({"ray.io/node-id": "1"}) is None
    assert node_and_gate({NODE_LABEL: "N 7", GATE_LABEL: "at-h_1"}) is None


@pytest.mark.parametrize(("name", "address"), [("n7", "h" * 60 + ":1"), ("N7", "h:1"), ("n7", "h")])
def test_impossible_names_are_refused(name: str, address: str) -> None:
    with pytest.raises(BadMember):
        labels_of(name, address)
