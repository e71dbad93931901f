"""The part of ``docs/performance.md`` about starts of desktops and their memory."""

from collections.abc import Iterator, Mapping
from typing import Any

from .tables import markdown_table

Json = Mapping[str, Any]

_MEASURES = {
    "ready_ms": "ready",
    "first_screenshot_ms": "first screenshot",
    "tenth_at_once_ms": "the tenth of ten at once",
    "pss_used_mib": "memory after a screenshot",
    "pss_idle_mib": "memory when idle",
    "private_idle_mib": "of it private to the service",
    "machine_mib": "memory of the machine, each of 20",
}


def launch(found: Json) -> Iterator[str]:
    yield "## The start of a desktop"
    yield (
        "From the command to the first screenshot, and the memory of all processes, their share of"
        f" what several use. Medians of {found['namespaces']['runs']} starts in turns with commit"
        " 9714228, before the inside of a desktop was isolated."
    )
    titles = {
        "namespaces": "ours, isolated",
        "without namespaces": "ours, without namespaces",
        "another checkout": "at 9714228",
    }
    rows = (
        (
            title,
            *(f"{found[name][one]:,} ms" for one in ("first_screenshot_ms", "fastest_ms")),
            f"{found[name]['pss_mib']} MiB",
        )
        for name, title in titles.items()
    )
    yield markdown_table(("way", "first screenshot", "fastest", "memory"), rows)


def start(found: Json) -> Iterator[str]:
    """Yield the paragraphs about desktops that a control plane starts."""
    yield (
        "With a control plane: from `POST desktops`, while ten desktops run, the median of 20."
        " *Forked* from a process that has loaded what they need, which itself takes"
        f" {found['forked']['fork_server_mib']} MiB (its share), or *executed* as on a machine"
        " where that process is off or still loads. Memory is that of the twentieth desktop."
    )
    ways = [way for way in ("forked", "executed", "before") if way in found]
    rows = []
    for key, title in _MEASURES.items():
        unit = "ms" if key.endswith("_ms") else "MiB"
        goal = f"{found['goals'][key]:g} {unit}" if key in found["goals"] else ""
        rows.append((title, *(f"{found[way][key]:,} {unit}" for way in ways), goal))
    yield markdown_table(("measure", *ways, "goal, forked"), rows)
    yield f"*Before* is commit 8e6a026f. Measured {found['machine']['measured']}."


def browser(found: Json) -> Iterator[str]:
    """Yield the paragraph about the first browser of a desktop."""
    yield (
        "The first browser of a desktop, from the command to an open page, with its processor time"
        " and memory, beside commit 71744f93. Medians of"
        f" {found['this checkout']['runs']} starts in turns"
        " (`python -m bench.browser_start RUNS DESKHAND`)."
    )
    rows = (
        (
            title,
            f"{found[way]['page_open_ms']:,} ms",
            f"{found[way]['cpu_s']} s",
            f"{found[way]['pss_mib']} MiB",
        )
        for way, title in {"this checkout": "ours", "another checkout": "at 71744f93"}.items()
    )
    yield markdown_table(("way", "page open", "CPU", "memory"), rows)
