"""Metrics of a control plane, from its measurements. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from deskhand.desktop.metrics.exposition import Metric, Sample
from deskhand.tools.agents.costs.counts import CostCounts
from deskhand.tools.conversation.states import ChatState
from deskhand.tools.conversation.tool_call_counts import ToolCallCounts
from deskhand.tools.fleet.spawn_times import SpawnTimes

from .nodes import MeasuredCluster, node_metrics


@dataclass(frozen=True)
class Measurements:
    """Values of one moment."""

    version: str
    chats: Mapping[str, int]
    """Number of chats by state."""
    queued_messages: int
    desktops: Mapping[str, int]
    """Number of desktops by status."""
    store_bytes: Mapping[str, int]
    """Bytes by kind: ``database``, and ``files``, also those in the bucket."""
    spawns: SpawnTimes = field(default_factory=SpawnTimes)
    tool_calls: ToolCallCounts = field(default_factory=ToolCallCounts)
    dropped_thinking: int = 0
    """Thinking blocks that providers have dropped from requests."""
    costs: CostCounts = field(default_factory=CostCounts)
    cluster: MeasuredCluster | None = None
    """None on one machine."""


def metrics_of(measured: Measurements) -> Iterator[Metric]:
    """Yield the metrics."""
    about = Sample(1, {"version": measured.version})
    yield Metric("deskhand_control_plane_info", "gauge", "Version; always 1.", (about,))
    # A state without chats has the value 0, so that an alert on it can be computed.
    chats = {state.value: 0 for state in ChatState} | dict(measured.chats)
    yield _gauges("chats", "Chats by state.", "state", chats)
    waiting = (Sample(measured.queued_messages),)
    meaning = "Messages that wait for the next turn of their chat."
    yield Metric("deskhand_queued_messages", "gauge", meaning, waiting)
    yield _gauges("desktops", "Desktops by status.", "status", measured.desktops)
    yield _gauges("store_bytes", "Stored bytes by kind.", "kind", measured.store_bytes)
    spawns = measured.spawns
    times = (Sample(spawns.seconds, {}, "_sum"), Sample(spawns.count, {}, "_count"))
    meaning = "Seconds from the request for a desktop until it is ready."
    yield Metric("deskhand_desktop_spawn_seconds", "summary", meaning, times)
    failed = (Sample(spawns.failed),)
    meaning = "Desktops that could not be started."
    yield Metric("deskhand_desktop_spawn_failures_total", "counter", meaning, failed)
    calls = tuple(
        Sample(count, {"tool": tool, "status": status})
        for (tool, status), count in sorted(measured.tool_calls.items())
    )
    meaning = "Tool calls that have ended, by tool and status."
    yield Metric("deskhand_tool_calls_total", "counter", meaning, calls)
    dropped = (Sample(measured.dropped_thinking),)
    meaning = "Thinking blocks that providers dropped; more than 0 is a defect."
    yield Metric("deskhand_dropped_thinking_blocks_total", "counter", meaning, dropped)
    yield from _costs(measured.costs)
    if measured.cluster is not None:
        yield from node_metrics(measured.cluster)


def _costs(costs: CostCounts) -> Iterator[Metric]:
    tokens = tuple(Sample(count, {"kind": kind}) for kind, count in costs.tokens.items())
    meaning = "Tokens of models; thinking tokens are output tokens too."
    yield Metric("deskhand_model_tokens_total", "counter", meaning, tokens)
    meaning = "Cost of models in USD, as far as their prices are known."
    yield Metric("deskhand_model_cost_usd_total", "counter", meaning, (Sample(costs.cost_usd),))
    meaning = "Requests to models whose prices are not known."
    unpriced = (Sample(costs.unpriced),)
    yield Metric("deskhand_model_requests_unpriced_total", "counter", meaning, unpriced)
    samples: list[Sample] = []
    for name, times in costs.times.items():
        stage = {"stage": name.removesuffix("_ms")}
        buckets = tuple(times.cumulative())
        samples += [Sample(count, stage | {"le": bound}, "_bucket") for bound, count in buckets]
        samples += [Sample(times.seconds, stage, "_sum"), Sample(buckets[-1][1], stage, "_count")]
    meaning = "Seconds of the stages of agents' steps; own is the control plane's code."
    yield Metric("deskhand_step_seconds", "histogram", meaning, tuple(samples))


def _gauges(name: str, meaning: str, label: str, values: Mapping[str, int]) -> Metric:
    samples = tuple(Sample(value, {label: key}) for key, value in sorted(values.items()))
    return Metric(f"deskhand_{name}", "gauge", meaning, samples)
