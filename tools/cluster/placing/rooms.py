"""Room on nodes, reserved in Ray: the only module that uses it. Everything blocks.

A reservation is a detached placement group, named by the desktop, with one bundle that is pinned to
its node by a resource of the node's own (`ray_names`). It stays when the placer ends. When the Ray
node of a host is replaced, its groups move to the next one of that name; when the head is replaced
without a database of its own, all are gone, and the placer makes them again.

Facts of Ray 2.60; what was only read in its sources or documents is marked (read):

- Names of resources may contain hyphens; values of labels no colon (read). The labels of
  ``ray start --labels=KEY=VALUE,…`` are in ``ray.nodes()`` as ``Labels``.
- A driver connects to a raylet that it finds among the processes of its own host; without one,
  ``ray.init`` fails (read). So a control plane's host needs a Ray node, if without places.
- A wrong token is reported at once by ``GcsClient``, while ``ray.init`` reports that it cannot
  connect (read). A head that does not listen costs ``GcsClient`` 40 s. So both are checked before.
- After the end of the head calls block, and after 60 s Ray ends the process with status 1.
- A driver of another user than Ray's needs the sockets of Ray alone (a umask of 0007 and a common
  group), unless it writes a log of events: the directory of these is writable by Ray's user.
- A group on a stopped raylet stays pending. One that was removed stays in the table with the state
  ``REMOVED``.
"""

import os
import socket
import threading
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import ray
from ray.exceptions import AuthenticationError, RayError
from ray.util.placement_group import (
    get_placement_group,
    placement_group,
    placement_group_table,
    remove_placement_group,
)

from deskhand.tools.cluster.moment import listen_address
from deskhand.tools.cluster.ray_names import bundle_of, node_and_gate, node_of_bundle
from deskhand.tools.cluster.ray_token import token_problem
from deskhand.tools.cluster.raylet_probe import Place, answering, answers

from .errors import NoReservation, RayRefused, RoomsUnavailable

# Ray ships no types for its compiled module.
_GcsClient: Any = import_module("ray._raylet").GcsClient

NAMESPACE = "deskhand"
CONNECT_SECONDS = 3.0
RESERVE_SECONDS = 3.0
"""After which a node whose room is not reserved counts as hung."""
NO_EVENT_LOG = {"RAY_event_log_reporter_enabled": "0"}
"""Environment of a driver that writes no log of events; the library of Ray reads it once."""
_FAULTS = (RayError, RuntimeError, ConnectionError, ValueError, OSError)
"""Errors of Ray's calls, which it does not list."""


class Rooms:
    """The reservations of a cluster; ``address`` is that of Ray's head, ``HOST:PORT``."""

    def __init__(self, address: str, environment: Mapping[str, str] = os.environ) -> None:
        """Check that there is a token.

        Raises:
            RayRefused: If there is none, or others may read it.
        """
        problem = token_problem(environment)
        if problem:
            raise RayRefused(problem)
        self._address = address
        self._places: dict[str, Place] = {}
        """Where Ray's process of each node is, by the node's name."""
        self._tls = environment.get("RAY_USE_TLS", "0") not in ("", "0")

    def open(self) -> None:
        """Connect to Ray.

        Raises:
            RayRefused: If it does not accept the token.
            RoomsUnavailable: If it does not answer, or has no node on this host.
        """
        os.environ.update(NO_EVENT_LOG)
        silence = RoomsUnavailable(f"Ray does not answer at {self._address}")
        try:
            with socket.create_connection(listen_address(self._address), CONNECT_SECONDS):
                pass
        except OSError as error:
            raise silence from error
        try:
            _GcsClient(address=self._address).get_all_node_info(timeout=CONNECT_SECONDS)
        except AuthenticationError as error:
            raise RayRefused(
                f"Ray at {self._address} refuses our token; copy the one of its head into the file"
                " of RAY_AUTH_TOKEN_PATH"
            ) from error
        except _FAULTS as error:
            raise silence from error
        try:
            ray.init(
                address=self._address,
                namespace=NAMESPACE,
                log_to_driver=False,
                configure_logging=False,
                ignore_reinit_error=True,
            )
        except _FAULTS as error:
            raise RoomsUnavailable(
                f"Ray at {self._address} has no node on this host; start one with"
                f" ray start --address={self._address} --num-cpus=0"
            ) from error

    def nodes(self) -> dict[str, str]:
        """Return the address of the gate by name of each node that has joined and answers.

        Raises:
            RoomsUnavailable: If Ray fails.
        """
        joined = {
            (node["NodeManagerAddress"], node["NodeManagerPort"]): found
            for node in self._called(ray.nodes)
            if node["Alive"] and (found := node_and_gate(node["Labels"])) is not None
        }
        good = answering(joined, tls=self._tls)
        # A process that is gone may still be known beside the next one of its node.
        last_good = sorted(joined.items(), key=lambda one: one[0] in good)
        self._places = {found[0]: place for place, found in last_good}
        return dict([found for place, found in joined.items() if place in good])

    def reservations(self) -> dict[str, str]:
        """Return the node by desktop that has a reservation.

        Raises:
            RoomsUnavailable: If Ray fails.
        """
        groups = self._called(placement_group_table).values()
        return {
            group["name"]: node
            for group in groups
            if group["state"] != "REMOVED" and (node := _node_of(group))
        }

    def reserve(self, desktop_id: str, node: str) -> None:
        """Reserve room for a desktop; one that it has on this node is fine.

        Raises:
            NoReservation: If there is none within :data:`RESERVE_SECONDS`; nothing is reserved.
            RoomsUnavailable: If Ray fails.
        """
        place = self._places.get(node)
        if place is not None and not answers(place, tls=self._tls):
            # Ray would wait for it with the reservations of all.
            raise NoReservation(f"Ray's process on node {node} does not answer")
        group = self._existing(desktop_id)
        if group is not None:
            table = self._called(lambda: placement_group_table(group))
            if _node_of(table) != node:
                self._called(lambda: remove_placement_group(group))
                group = None
        if group is None:
            group = self._called(
                lambda: placement_group(
                    [bundle_of(node)], strategy="PACK", name=desktop_id, lifetime="detached"
                )
            )
        if not self._called(lambda: group.wait(RESERVE_SECONDS)):
            self._called(lambda: remove_placement_group(group))
            raise NoReservation(
                f"Ray has reserved no room within {RESERVE_SECONDS:.0f} s on node {node}"
            )

    def release(self, desktop_id: str) -> None:
        """Release the room of a desktop; that of an unknown one is fine.

        Raises:
            RoomsUnavailable: If Ray fails.
        """
        group = self._existing(desktop_id)
        if group is not None:
            self._called(lambda: remove_placement_group(group))

    def close(self) -> None:
        """Disconnect, reservations stay; a head that is gone is not waited for."""
        # Ray waits for its head without a limit.
        ended = threading.Thread(target=ray.shutdown, name="disconnect from Ray", daemon=True)
        ended.start()
        ended.join(CONNECT_SECONDS)

    def _existing(self, desktop_id: str) -> Any:
        try:
            return get_placement_group(desktop_id)
        except ValueError:
            # Ray has this one error for an unknown name.
            return None
        except _FAULTS as error:
            raise self._failed(error) from error

    def _called(self, call: Any) -> Any:
        try:
            return call()
        except _FAULTS as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> RoomsUnavailable:
        return RoomsUnavailable(f"Ray at {self._address} has failed: {error}")


def _node_of(group: Mapping[str, Any]) -> str:
    bundles: Mapping[int, Mapping[str, float]] = group["bundles"]
    return node_of_bundle(next(iter(bundles.values()), {}))
