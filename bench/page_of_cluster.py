"""The part of ``docs/performance.md`` about several control planes and nodes."""

from collections.abc import Container, Iterator, Mapping
from typing import Any

from .tables import markdown_table

Json = Mapping[str, Any]


def nodes(found: Json) -> Iterator[str]:
    """Yield the paragraphs about desktops on nodes."""
    yield "## Desktops on nodes"
    yield (
        "The two nodes are network namespaces of one machine and share its two cores with all else,"
        f" so two nodes cannot be faster than one. {found['desktops at once']} desktops are started"
        " at once. Memory is that of all processes, their share of what several use (`python -m"
        f" bench.cluster_nodes`, load {found['machine']['load_before']} before it)."
    )
    yield _table(found, at_most=found["goals"])


def events(found: Json) -> Iterator[str]:
    """Yield the paragraphs about events between control planes."""
    yield "## Events between control planes"
    yield (
        "Three control planes change 200 rows a second each. The time of an event is that from the"
        " commit of a change until another control plane has published it. Then one of them writes"
        " as fast as it can, in turns alone and with notices to the two others; *writes with"
        " notices* is the ratio of the two. PostgreSQL runs on the same two cores, without fsync"
        f" (`python -m bench.cluster_events`, load {found['machine']['load_before']} before it)."
    )
    yield _table(found, at_most=("p99 (ms)",))


def chats(found: Json) -> Iterator[str]:
    """Yield the paragraphs about many chats on two control planes."""
    yield f"## {found['chats']} chats on two control planes"
    yield (
        f"{found['chats']} chats with a scripted model work for {found['minutes']} minutes. Each"
        " gets its next message when all are at rest, through either control plane in turn. The"
        " memory is that of each control plane; three rounds have passed before the first figure"
        f" (`python -m bench.cluster_chats`, load {found['machine']['load_before']} before it)."
    )
    before, after = (" and ".join(f"{one:g} MiB" for one in found[f"memory {at} (MiB)"])
                     for at in ("before", "after"))  # fmt: skip
    goals = found["goals"]
    rows = (
        ("turns", f"{found['turns']:,}", ""),
        ("turns a second", found["turns a second"], ""),
        ("processor time of a turn", f"{found['processor time of a turn (ms)']} ms", ""),
        ("errors", found["errors"], goals["errors"]),
        ("memory before", before, ""),
        ("memory after", after, ""),
        ("memory, ratio to before", found["growth"], f"at most {goals['growth']}"),
    )
    yield markdown_table(("", "measured", "goal"), rows)


def one_machine(found: Json) -> Iterator[str]:
    """Yield the paragraphs about `deskhand up` on one machine."""
    yield "## `deskhand up` on one machine"
    yield (
        "Start and memory of `deskhand up` without the settings of a cluster, beside the commit"
        " before the cluster. Both start in turns, so other load affects both alike. The ratio is"
        " ours to that one (`python -m bench.cluster_start`, load"
        f" {found['machine']['load_before']} before it)."
    )
    rows = [(what, found["ours"][what], found["before"][what], ratio, f"at most {found['goal']}")
            for what, ratio in found["ratios"].items()]  # fmt: skip
    yield markdown_table(("", "ours", "before", "ratio", "goal"), rows)


def _table(found: Json, at_most: Container[str]) -> str:
    """Return all figures; the goals that are not in ``at_most`` are lower limits."""

    def goal(name: str) -> str:
        limit = "at most" if name in at_most else "at least"
        return f"{limit} {goals[name]:g}" if name in goals else ""

    goals = found["goals"]
    rows = [
        (name, f"{value:,}" if value >= 1000 else value, goal(name))
        for name, value in found.items()
        if name not in ("machine", "goals")
    ]
    return markdown_table(("", "measured", "goal"), rows)
