from dataclasses import dataclass, replace

from deskhand.desktop.metrics.exposition import exposition
from deskhand.tools.agents.costs.counts import CostCounts
from deskhand.tools.agents.providers.port import Usage
from deskhand.tools.control_plane.metrics.measurements import Measurements, metrics_of
from deskhand.tools.control_plane.metrics.nodes import MeasuredNode
from deskhand.tools.conversation.tool_call_counts import ToolCallCounts
from deskhand.tools.fleet.spawn_times import SpawnTimes


@dataclass(frozen=True)
class EmptyCluster:
    nodes: tuple[MeasuredNode, ...] = ()
    waiting: int = 3


NOTHING = Measurements("1.2", {}, 0, {}, {})


def lines(measured: Measurements) -> list[str]:
    return exposition(metrics_of(measured)).splitlines()


def test_all_that_is_measured_is_a_metric() -> None:
    calls = ToolCallCounts()
    calls.add("execute", "done")
    costs = CostCounts()
    costs.add_usage(Usage(7, 8, cost_usd=0.25))
    costs.add_step({"own_ms": 20.0})
    shown = lines(
        Measurements(
            *("1.2", {"running": 2}, 3, {"ready": 1}, {"database": 10, "files": 20}),
            spawns=SpawnTimes(4, 2.5, 1),
            tool_calls=calls,
            dropped_thinking=5,
            costs=costs,
        )
    )
    for line in (
        'control_plane_info{version="1.2"} 1',
        'chats{state="running"} 2',
        "queued_messages 3",
        'desktops{status="ready"} 1',
        'store_bytes{kind="database"} 10',
        'store_bytes{kind="files"} 20',
        "desktop_spawn_seconds_sum 2.5",
        "desktop_spawn_seconds_count 4",
        "desktop_spawn_failures_total 1",
        "dropped_thinking_blocks_total 5",
        'tool_calls_total{tool="execute",status="done"} 1',
        'model_tokens_total{kind="input"} 7',
        "model_cost_usd_total 0.25",
        "model_requests_unpriced_total 0",
        'step_seconds_bucket{stage="own",le="0.01"} 0',
        'step_seconds_bucket{stage="own",le="0.02"} 1',
        'step_seconds_bucket{stage="own",le="+Inf"} 1',
        'step_seconds_sum{stage="own"} 0.02',
        'step_seconds_count{stage="act"} 0',
    ):
        assert f"deskhand_{line}" in shown


def test_a_state_without_chats_is_zero() -> None:
    assert 'deskhand_chats{state="queued"} 0' in lines(NOTHING)
    assert not any("tool_calls_total{" in line for line in lines(NOTHING))


def test_only_a_cluster_has_metrics_of_nodes() -> None:
    assert not any("node" in line or "waiting " in line for line in lines(NOTHING))
    assert "deskhand_desktops_waiting 3" in lines(replace(NOTHING, cluster=EmptyCluster()))
