"""Metrics of one desktop in the text exposition format of Prometheus, version 0.0.4.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from deskhand.desktop.actions.catalog import ActionRecord

Json = Mapping[str, Any]

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Sample(NamedTuple):
    """One value of a metric, identified by its labels."""

    value: float
    labels: Mapping[str, str] = {}
    suffix: str = ""
    """``_sum`` and ``_count`` of a summary; also ``_bucket`` of a histogram."""


class Metric(NamedTuple):
    """All samples of one name."""

    name: str
    kind: Literal["counter", "gauge", "summary", "histogram"]
    meaning: str
    samples: tuple[Sample, ...]


class Tally:
    """Counts actions and their durations by name."""

    def __init__(self) -> None:
        self._taken: dict[str, tuple[int, float]] = {}
        self._failed: dict[str, int] = {}
        self._status = {"accepted": 0, "dropped": 0}

    def add_status(self, *, dropped: bool) -> None:
        """Count one status message of a command."""
        self._status["dropped" if dropped else "accepted"] += 1

    def add(self, record: ActionRecord) -> None:
        """Count one action that has ended, successful or not."""
        name = record.action
        count, seconds = self._taken.get(name, (0, 0.0))
        self._taken[name] = (count + 1, seconds + record.ended - record.started)
        # An action that never failed has the value 0: `rate` needs one before the first failure.
        self._failed[name] = self._failed.get(name, 0) + (record.error is not None)

    def metrics(self) -> Iterator[Metric]:
        """Yield the metrics of the actions counted so far."""
        taken = []
        for name, (count, seconds) in sorted(self._taken.items()):
            label = {"action": name}
            taken += [Sample(seconds, label, "_sum"), Sample(count, label, "_count")]
        failed = [Sample(count, {"action": name}) for name, count in sorted(self._failed.items())]
        meaning = "Actions and the time they took, with what was looked at after them."
        yield Metric("deskhand_action_seconds", "summary", meaning, tuple(taken))
        yield Metric(
            "deskhand_action_failures_total", "counter", "Actions that went wrong.", tuple(failed)
        )
        if not any(self._status.values()):
            return
        sent = tuple(Sample(count, {"result": name}) for name, count in self._status.items())
        meaning = "Status messages of commands, and those beyond the rate or of no chat."
        yield Metric("deskhand_status_messages_total", "counter", meaning, sent)


def status_metrics(status: Json) -> Iterator[Metric]:
    """Yield the metrics that the status of a desktop contains."""
    named = {"version": str(status["version"]), "instance_id": str(status["instance_id"])}
    about = Sample(1, named)
    yield Metric("deskhand_desktop_info", "gauge", "Version and instance; always 1.", (about,))
    yield _gauge("uptime_seconds", "Since the service began.", status["uptime_s"])
    yield _gauge("watchers", "Who sees the live view.", status["watchers"])
    yield _gauge("recordings_active", "Recordings that run.", len(status["recording_ids"]))
    held = status["lease"]["holder"]["kind"]
    yield _gauge("human_in_control", "Whether a person is in control.", held == "person")
    idle = status["last_activity_s"]
    if idle is not None:
        yield _gauge("idle_seconds", "Since the last action.", idle)
    # An attached screen has no X server of its own.
    xserver = status.get("xserver")
    if xserver is not None:
        yield _gauge("display_up", "Whether the display runs.", xserver["running"])
        restarts = (Sample(xserver["restarts"]),)
        meaning = "How often the display was started again."
        yield Metric("deskhand_display_restarts_total", "counter", meaning, restarts)


def process_metrics(cpu_seconds: float, resident_bytes: int) -> Iterator[Metric]:
    """Yield CPU time and memory of the service, under Prometheus' standard names."""
    cpu, resident = (Sample(cpu_seconds),), (Sample(resident_bytes),)
    yield Metric("process_cpu_seconds_total", "counter", "Processor time of the service.", cpu)
    yield Metric("process_resident_memory_bytes", "gauge", "Memory of the service.", resident)


def exposition(metrics: Iterable[Metric]) -> str:
    """Return the text of the metrics; a metric without samples is left out."""
    lines: list[str] = []
    for metric in metrics:
        if metric.samples:
            lines.append(f"# HELP {metric.name} {metric.meaning}")
            lines.append(f"# TYPE {metric.name} {metric.kind}")
        for sample in metric.samples:
            labels = ",".join(f'{name}="{_quoted(v)}"' for name, v in sample.labels.items())
            shown = f"{{{labels}}}" if labels else ""
            # Twelve digits leave out rounding errors of binary fractions.
            lines.append(f"{metric.name}{sample.suffix}{shown} {float(sample.value):.12g}")
    return "".join(f"{line}\n" for line in lines)


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return Metric(f"deskhand_{name}", "gauge", meaning, (Sample(value),))


def _quoted(text: str) -> str:
    # The backslash comes first: the other escapes contain backslashes.
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
