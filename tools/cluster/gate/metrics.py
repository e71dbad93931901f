"""Metrics of a node, from its measurements. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from deskhand.desktop.metrics.exposition import Metric, Sample


@dataclass(frozen=True)
class NodeMeasurements:
    """Values of one moment."""

    name: str
    version: str
    places: int
    running: int
    starting: int
    failures: int
    """Starts that have failed since the start of the gate."""
    has_room: bool


def metrics_of(measured: NodeMeasurements) -> Iterator[Metric]:
    """Yield the metrics."""
    about = Sample(1, {"node": measured.name, "version": measured.version})
    yield Metric("deskhand_node_info", "gauge", "Name and version; always 1.", (about,))
    places = (Sample(measured.places),)
    yield Metric("deskhand_node_places", "gauge", "Desktops that may run at once.", places)
    states = {"running": measured.running, "starting": measured.starting}
    desktops = tuple(Sample(value, {"state": state}) for state, value in states.items())
    yield Metric("deskhand_node_desktops", "gauge", "Desktops by state.", desktops)
    room = (Sample(int(measured.has_room)),)
    yield Metric("deskhand_node_has_room", "gauge", "1 if a further desktop may start.", room)
    meaning = "Desktops that could not be started."
    failed = (Sample(measured.failures),)
    yield Metric("deskhand_node_start_failures_total", "counter", meaning, failed)
