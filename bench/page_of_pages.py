"""The part of ``docs/performance.md`` about the pages, with their goals."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .tables import RESULTS, markdown_table

Json = Mapping[str, Any]
WAYS = {"processor_1x_slower": "as it is", "processor_4x_slower": "four times slower"}


def pages() -> Iterator[str]:
    """Yield the paragraphs and tables of all scripts about pages."""
    yield "## Pages"
    yield (
        "In Chromium without a graphics card, beside the service on two cores. `python -m bench"
        " pages` measures all of it, and says of each goal that is missed whether the machine was"
        " quiet: at a load above 1, other work disturbed the figures. A task below 50 ms is not"
        " reported by the browser and counts as 0."
    )
    for name, section in SECTIONS.items():
        found = json.loads((RESULTS / f"{name}.json").read_text())
        yield from section(found)
        machine = found["machine"]
        yield (
            f"Measured {machine['measured']} at a load of {machine['load_before']} before and"
            f" {machine['load_1m']} after (`python -m bench.{name}`)."
        )


def live(found: Json) -> Iterator[str]:
    yield "### Twelve tabs"
    yield (
        f"{found['desktops']} desktops, twelve tabs and two live views, loaded at the same moment"
        f" and {found['tabs_in_front']} of them in front, so that each draws its pictures; the last"
        f" is painted. As many tabs of an empty page take {found['empty_tabs_ms']:,} ms. In the"
        " second row, four tabs are runs with a paused recording of"
        f" {found['recording_bytes'] / 1e6:.0f} MB and one is a run whose recording grows."
    )
    yield markdown_table(
        ("tabs", "painted", "goal", "an action is in all tabs after", "goal"),
        [
            (
                "twelve home pages",
                f"{found['painted_ms']:,} ms",
                "2,000 ms",
                f"{found['action_ms']:,} ms",
                "300 ms",
            ),
            (
                "seven, and five runs",
                f"{found['recordings_painted_ms']:,} ms",
                "2,000 ms",
                f"{found['action_with_recordings_ms']:,} ms",
                "300 ms",
            ),
        ],
    )
    yield (
        f"A wall of {found['desktops']} idle desktops costs {found['service_percent']} % of a core"
        f" in the service, which uses {found['service_without_a_page_percent']} % without a page,"
        f" and {found['page_percent']} % in the page (goal: 1 % each)."
    )


def runs(found: Json) -> Iterator[str]:
    yield "### The list of runs"
    yield (
        f"{found['runs']:,} runs; a search is from the form to the painted list, beside a client"
        " that reads all runs and compares their texts."
    )
    slowest = max(found["search_ms"].values())
    rows = (
        ("first paint", f"{found['first_paint_ms']} ms", "500 ms"),
        ("first paint of an empty page", f"{found['empty_paint_ms']} ms", ""),
        ("slowest search", f"{slowest} ms", "200 ms"),
        ("search by a client", f"{found['search_by_client_ms']:,} ms", ""),
        ("heap after 5 pages", f"{found['heap_mib_after_5_pages']} MiB", ""),
        ("heap after 50 pages", f"{found['heap_mib_after_50_pages']} MiB", "the same"),
        ("elements after 50 pages", f"{found['elements_after_50_pages']:,}", ""),
    )
    yield markdown_table(("what", "measured", "goal"), rows)


def recording(found: Json) -> Iterator[str]:
    yield "### The recording on the page of a run"
    yield (
        "Frames between the change of the list and the first frame on the screen that shows the "
        "step. The goal is 1 frame at 1x and 2 at 4x for 95 % of the steps."
    )
    names = ("steps", "p50_frames", "p95_frames", "max_frames")
    rows = [(speed, *(it[name] for name in names)) for speed, it in found["frame_error"].items()]
    yield markdown_table(("speed", "steps", "median", "95 %", "most"), rows)
    yield "The goals: first paint 500 ms, longest task 50 ms, fewer than 1,500 elements."
    scenes = {
        "steps_20": "A run of 20 steps:",
        "steps_2000": "A run of 2,000 steps, of which a link does not show the conversation:",
        "steps_and_messages_2000": "The same with its conversation of 2,000 messages:",
    }
    for name, words in scenes.items():
        yield words
        yield markdown_table(
            ("processor", "first paint", "list", "longest task", "over 50 ms", "elements", "bytes"),
            [
                (
                    WAYS[way],
                    f"{it['first_paint_ms']} ms",
                    f"{it['list_painted_ms']} ms",
                    f"{it['longest_task_ms']} ms",
                    it["tasks_over_50_ms"],
                    f"{it['elements']:,}",
                    f"{it['bytes'] / 1000:,.0f} kB",
                )
                for way, it in found[name].items()
            ],
        )


def conversation(found: Json) -> Iterator[str]:
    yield "### The conversation on the page of a run"
    yield (
        "Script tags and `javascript:` links, 200 kB of output in the colours of a terminal and a "
        "message of 100,000 characters: the longest task of the page (goal: 50 ms as it is)."
    )
    phases = ("opened", "all_of_the_message", "output")
    rows = [
        (words, *(f"{found[key][phase]['longest_task_ms']} ms" for phase in phases))
        for key, words in WAYS.items()
    ]
    yield markdown_table(("processor", "opened", "all of the message", "output"), rows)


SECTIONS = {
    "pages_live": live,
    "pages_runs": runs,
    "pages_recording": recording,
    "pages_conversation": conversation,
}
