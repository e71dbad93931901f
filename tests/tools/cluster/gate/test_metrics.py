from deskhand.desktop.metrics.exposition import exposition
from deskhand.tools.cluster.gate.metrics import NodeMeasurements, metrics_of


def test_a_node_shows_its_places_and_its_desktops() -> None:
    measured = NodeMeasurements(
        "n7", "1.0", places=4, running=2, starting=1, failures=3, has_room=False
    )
    text = exposition(metrics_of(measured))
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines == [
        'deskhand_node_info{node="n7",version="1.0"} 1',
        "deskhand_node_places 4",
        'deskhand_node_desktops{state="running"} 2',
        'deskhand_node_desktops{state="starting"} 1',
        "deskhand_node_has_room 0",
        "deskhand_node_start_failures_total 3",
    ]
