"""Write ``docs/performance.md`` from ``bench/results``: ``python -m bench.page``."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .tables import RESULTS

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
HEAD = """# How fast it is

Each table has Deskhand beside the way that others do the same, taken in turns in one run on the
same machine: two cores, Python 3.11. Times change with the machine, ratios hardly. A ratio above 1
says how many times as long, or as much, the other way takes. `make bench` measures again, and
`python -m bench.page` writes this page from `bench/results/`: single runs, nothing left out.
"""

Json = Mapping[str, Any]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def compared(times: Json, unit: str = "ms") -> str:
    """Return a table of times with their ratios to the first row, which is ours."""
    best = next(iter(times.values()))
    rows = ((way, f"{spent:,.1f} {unit}", f"{spent / best:,.1f}") for way, spent in times.items())
    return table(("way", "median", "ratio"), rows)


def screenshots(found: Json) -> Iterator[str]:
    yield "## A screenshot\n\n1280x720 PNG of the 1920x1080 screen, in process."
    for scene, times in found["screenshot_ms"].items():
        yield f"A page of {scene}:" if scene != "terminal" else "A terminal:"
        yield compared(times)


def service(found: Json) -> Iterator[str]:
    yield "## Actions, over HTTP and in process"
    titles = {
        "click_ms": "A click:",
        "typing_200_ms": "Typing 200 characters:",
        "action_to_picture_ms": "From a key to the picture of the settled screen:",
    }
    for name, title in titles.items():
        yield title
        yield compared(found[name])


def settle(found: Json) -> Iterator[str]:
    yield "## The picture after an action"
    yield "How often it is the one that the screen shows two seconds later, moving parts left out."
    rows = ((r["scene"], r["same"], f"{r['act_to_picture_ms']} ms") for r in found["scenes"])
    yield table(("scene", "the same", "action to picture"), rows)


def recording(found: Json) -> Iterator[str]:
    yield "## Recording"
    yield "CPU of the recorder, of the X server for it, and of what is done afterwards."
    for scene, ways in found["scenes"].items():
        yield f"{scene.capitalize()}:"
        ours = ways["ours"]["total_cpu_s"]
        rows = [
            (
                way,
                f"{it['total_cpu_s']:.1f} s",
                f"{it['total_cpu_s'] / ours:.1f}",
                f"{it['rss_mb']:.0f} MB",
                f"{it['bytes'] / 1000:,.0f} kB",
                f"{it['playable_ms']:,.0f} ms",
                ", ".join(f"{what} {speed:g}" for what, speed in it.get("speed", {}).items()),
            )
            for way, it in ways.items()
        ]
        head = ("way", "CPU", "ratio", "memory", "file", "stop to playable", "plays at")
        yield table(head, rows)


def fleet(found: Json) -> Iterator[str]:
    yield "## Many desktops on one machine"
    rows = (
        (
            count,
            f"{it['all_seen_s']} s",
            f"{it['next_screenshot_ms']} ms",
            f"{it['pss_mb_each']:.0f} MB",
            f"{it['idle_cpu_percent_of_a_core_each']} %",
        )
        for count, it in found["desktops"].items()
    )
    head = ("desktops", "all started and seen", "next screenshot", "memory each", "idle core each")
    yield table(head, rows)


def plane(found: Json) -> Iterator[str]:
    yield "## The control plane"
    yield table(
        ("what", "time"),
        (
            (f"a page of 50 of {found['chats']:,} chats", f"{found['page_of_50_ms']} ms"),
            (f"all {found['chats']:,} in pages of 100", f"{found['all_pages_ms']} ms"),
            (
                f"{found['waits']} waits for one agent: last answer after the first",
                f"{found['last_after_first_ms']} ms",
            ),
            ("another call meanwhile, median", f"{found['call_beside_median_ms']} ms"),
        ),
    )


def relay(found: Json) -> Iterator[str]:
    yield "## Watching live"
    yield (
        "Our relay and websockify alone in their processes, and a plain socket. Work is"
        " the relay's CPU for each MiB, memory its share of what several processes use. A viewer"
        " needs 13 MB/s at most."
    )
    alone, watched = found["memory_mib"]["0"], found["memory_mib"]["50"]
    added = {way: f"{watched[way] - alone[way]:.1f} MiB" for way in watched}
    yield "Fifty watchers add: " + ", ".join(f"{way} {mib}" for way, mib in added.items()) + "."
    rows = (
        (
            f"{count}, {way}",
            f"{found['throughput'][count][way]['mib_s']:,} MiB/s",
            f"{found['throughput'][count][way]['cpu_ms_per_mib']} ms",
            f"{memory:.0f} MiB",
        )
        for count, ways in found["memory_mib"].items()
        for way, memory in ways.items()
        if count in found["throughput"]
    )
    yield table(("watchers", "all together", "work", "memory"), rows)
    titles = {
        "8 bytes there and back": "echo",
        "a key to its pixels": "key_to_pixel",
        "the same in a page of Chromium": "key_to_pixel_in_page",
    }
    times = (
        (f"{title}, {way}", f"{median} {unit.removeprefix('median_')}")
        for title, name in titles.items()
        for way, it in found[name].items()
        for unit, median in it.items()
        if unit.startswith("median_")
    )
    yield table(("time from", "median"), times)


SECTIONS = {
    "screenshot": screenshots,
    "service": service,
    "settle": settle,
    "recording": recording,
    "relay": relay,
    "fleet": fleet,
    "plane": plane,
}


def main() -> None:
    parts = [HEAD.strip()]
    for name, section in SECTIONS.items():
        parts += section(json.loads((RESULTS / f"{name}.json").read_text()))
    PAGE.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
