"""Write ``docs/performance.md`` from ``bench/results``: ``python -m bench.page``."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import page_of_cluster
from .page_of_pages import pages
from .page_of_starts import browser, launch, start
from .tables import RESULTS, markdown_table

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
HEAD = """# How fast it is

Each table has Deskhand beside the way that others do the same, taken in turns in one run on the
same machine: two cores, Python 3.11. Times change with the machine, ratios hardly. A ratio above 1
says how many times as long, or as much, the other way takes. `make bench` measures again, and
`python -m bench.page` writes this page from `bench/results/`: single runs, nothing left out.
"""

Json = Mapping[str, Any]


def compared(times: Json, unit: str = "ms") -> str:
    """Return a table of times with their ratios to the first row, which is ours."""
    best = next(iter(times.values()))
    rows = ((way, f"{spent:,.1f} {unit}", f"{spent / best:,.1f}") for way, spent in times.items())
    return markdown_table(("way", "median", "ratio"), rows)


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
    yield "A screenshot of a page of text, over HTTP:"
    yield compared(found["screenshot_ms"]["text"])


def settle(found: Json) -> Iterator[str]:
    yield "## The picture after an action"
    yield "How often it is the one that the screen shows two seconds later, moving parts left out."
    rows = ((r["scene"], r["same"], f"{r['act_to_picture_ms']} ms") for r in found["scenes"])
    yield markdown_table(("scene", "the same", "action to picture"), rows)


def settle_rules(found: Json) -> Iterator[str]:
    yield (
        "The silence that is waited for: 100 ms, and 50 ms while little was painted (*small*)."
        " Wrong pictures of all trials, and the median time from the action to the verdict, with"
        " several desktops side by side and with both processors busy:"
    )
    busy = json.loads((RESULTS / "settle_rules_busy.json").read_text())["scenes"]
    rows = []
    for scene, rules in found["scenes"].items():
        for name, it in rules.items():
            other = busy[scene][name]
            cells = (f"{one['wrong']} of {one['of']}" for one in (it, other))
            rows.append((scene, name, *cells, f"{it['ms']} ms", f"{other['ms']} ms"))
    head = ("scene", "silence", "wrong", "wrong, busy", "time", "time, busy")
    yield markdown_table(head, rows)


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
                it.get("text_ssim", ""),
                ", ".join(f"{what} {speed:g}" for what, speed in it.get("speed", {}).items()),
            )
            for way, it in ways.items()
        ]
        head = ("way", "CPU", "ratio", "memory", "file", "stop to playable", "SSIM", "plays at")
        yield markdown_table(head, rows)


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
    yield markdown_table(head, rows)


def plane(found: Json) -> Iterator[str]:
    yield "## The control plane"
    yield markdown_table(
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


def calls(found: Json) -> Iterator[str]:
    yield "## What a call costs"
    yield (
        "Our client beside a loop of Python's `http.client`, and the processor time of the control"
        " plane beside that of commit 8e6a026f, in one run (`python -m bench.calls DESKHAND`, load"
        f" {found['machine']['load_before']} before it). A goal counts on a quiet machine."
    )
    goals = found["goals"]

    def goal(name: str) -> str:
        return f"{goals[name]:g} ms" if name in goals else ""

    rows = ((name, f"{ms:.2f} ms", goal(name)) for name, ms in found["desktop_ms"].items())
    yield markdown_table(("call to a desktop", "median", "goal"), rows)
    ours, before = (found["plane_cpu_ms"][name] for name in ("ours", "before"))
    costs = ((name, f"{ours[name]:.2f} ms", f"{before[name]:.2f} ms", goal(name)) for name in ours)
    yield markdown_table(("call to the control plane", "ours", "at 8e6a026f", "goal"), costs)


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
    yield markdown_table(("watchers", "all together", "work", "memory"), rows)
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
    yield markdown_table(("time from", "median"), times)


def frame_cost(found: Json) -> Iterator[str]:
    yield "## Applications without shared memory"
    yield (
        "At level *user*, applications work as another user than the X server and behind a filter,"
        " so they have no MIT-SHM. Processor time for a frame of 1280x720, application +"
        " X server, beside commit 9714228, where applications had the X server's user and a trusted"
        " cookie (`python -m bench.frame_cost SECONDS DESKHAND`; two cores with other load, both"
        " desktops in turns). The desktop's own browser connects to the X server itself."
    )
    rows = (
        (name, *(" + ".join(f"{ms:.2f}" for ms in way[one]) + " ms" for one in ("ours", "9714228")))
        for name, way in found["cpu_ms"].items()
    )
    yield markdown_table(("application", "ours", "at 9714228"), rows)


def waiting(found: Json) -> Iterator[str]:
    yield "## Waiting for an event"
    yield (
        f"From a change of a page to the answer, {found['trials']} changes of text, title, URL or"
        " pixels: one request to `wait-for`, beside a screenshot every 2 s, without the time of the"
        " model that reads it."
    )
    ways = {name: way for name, way in found.items() if isinstance(way, dict) and "p95_ms" in way}
    rows = (
        (name, f"{way['median_ms']:,} ms", f"{way['p95_ms']:,} ms") for name, way in ways.items()
    )
    yield markdown_table(("way", "median", "95 of 100 within"), rows)


def agents_overhead(found: Json) -> Iterator[str]:
    yield "## The overhead of a step"
    yield (
        "Processor time of the control plane for an agent's step: it contains its requests of the"
        " desktop and the model, and the first steps contain the start of the recorder. Each step"
        " converts only what is new in its request: the history is kept in memory"
        " during a turn, and"
        " each message, with its pictures, is encoded once. `python -m"
        " bench.agents_overhead --beside"
        " CHECKOUT` runs 300 steps of typing on a real desktop, with a provider on loopback that"
        f" answers at once, for both at the same time (load {found['machine']['load_1m']}). The"
        " control plane records the time of a step that is neither the model's nor the desktop's as"
        " `own_ms`, and what the step costs in tokens and USD as `usage`, from the prices in"
        " `tools/agents/providers/model_table.py`."
    )
    ways = found["newest pictures"]
    rows = (
        (steps.removeprefix("steps "), *(f"{ways[way][steps]['cpu_ms']} ms" for way in ways))
        for steps in ways["ours"]
    )
    yield markdown_table(
        ("steps", *("ours" if way == "ours" else f"at {way}" for way in ways)), rows
    )


def cluster(found: Json) -> Iterator[str]:
    yield "## A database in a file and on a server"
    yield (
        "Processor time of one control plane with SQLite, with PostgreSQL on the same machine, and"
        " with PostgreSQL and a bucket. The time of PostgreSQL and of the bucket is not in it. All"
        " are measured in one run of `python -m bench.cluster` (load"
        f" {found['machine']['load_before']} before it)."
    )
    ways = tuple(name for name in found if name not in ("machine", "goals"))
    rows = (
        (
            name.removesuffix(" (ms)"),
            *(
                f"{found[way][name]} ms" if name.endswith("(ms)") else found[way][name]
                for way in ways
            ),
            f"{found['goals'][name]:g} ms" if name in found["goals"] else "",
        )
        for name in found["SQLite"]
    )
    yield markdown_table(("", *ways, "goal"), rows)


def cluster_puts(found: Json) -> Iterator[str]:
    yield (
        "## Requests to the bucket\n\n"
        "PUT requests for the files of one turn of an agent, with a bucket (setting `store`);"
        " the parts of large uploads are counted too. The pictures of the steps are one object, and"
        f" at most {found['goal']} in a turn of up to an hour, however many steps it has; without"
        " packing each picture is one request. Counted in the log of moto's S3 service by `python"
        " -m bench.cluster_puts`."
    )
    turns = found["turns"]
    yield markdown_table(tuple(turns[0]), (tuple(turn.values()) for turn in turns))


def cluster_live(found: Json) -> Iterator[str]:
    yield (
        "## Live view straight at a node\n\n"
        "Processor time of two control planes and of the daemon of a node for one viewer of a"
        " screen that scrolls, as pixels without compression. The three situations took turns in"
        f" one run of `python -m bench.cluster_live` (load {found['machine']['load_before']})."
    )
    rows = (
        (
            row["way"],
            f"{row['planes_ms_per_s']:.0f} ms/s",
            f"{row['node_ms_per_s']:.0f} ms/s",
            f"{row['mib_per_s']:.1f} MiB/s",
        )
        for row in found["rows"]
    )
    yield markdown_table(("live view", "control planes", "node", "viewer gets"), rows)


def agents_calls(found: Json) -> Iterator[str]:
    yield (
        "## Calls of one reply\n\n"
        f"{found['calls']} `execute` calls of one second by an agent on a real desktop, from the"
        " reply of the model to its next request, which has all results"
        f" (`python -m bench.agents_calls`, median of {found['repeats']}). Plain tools of one reply"
        " run side by side, calls of the computer one after another."
    )
    rows = ((way, f"{seconds:.2f} s") for way, seconds in found["seconds"].items())
    yield markdown_table(("calls", "time"), rows)


def agents(found: Json) -> Iterator[str]:
    yield "## The cost of a run's history"
    yield (
        "Each request to a model repeats the history of the run. Providers read its"
        " beginning from a"
        " cache, for a small part of the price, if it is the same as in an earlier"
        " request and marked"
        " there. `python -m bench.agents` counts the tokens of a fixed trace"
        " (`bench/agent_trace.json`: one picture of 1280x720 a step) from the bytes"
        " of each request,"
        " for our loop and for the policies of others alike: a token that is read from the cache"
        " counts 0.05, one that is written to it 1.25, one of a summary 5, any other"
        " 1. Models whose"
        " thinking is bound to its prefix refuse, or drop, thinking blocks after a changed history."
        " *Now* is our policy at 9714228."
    )
    for length, one in found["history"].items():
        rows = (
            (
                policy,
                f"{100 * costs['share']:.1f} %",
                f"{costs['weighted']:,}",
                f"{costs['longest']:,}",
                costs["thinking_lost"],
            )
            for policy, costs in one["policies"].items()
        )
        head = ("read from cache", "weighted tokens", "longest prompt", "thinking lost")
        yield markdown_table((length.replace("_", " "), *head), rows)


def playbooks(found: Json) -> Iterator[str]:
    flows = {name: one for name, one in found["flows"].items() if "times_faster" in one}
    yield "## Playbooks"
    yield (
        "Ten flows on local pages, each run once by a scripted model that thinks"
        f" {found['think_seconds']:g} s before each reply, saved, and replayed without a model on"
        " the whole screen and in a window of 1000x640 (`python -m bench.playbooks`; times are"
        " medians of the replays on the whole screen, *load* is that of the two cores: other work"
        " slows the starts of desktops and browsers, but not the thinking)."
        " *Whole* contains the start of a desktop and its browser, which both runs need alike, and"
        " which is most of a replay; *acting* begins with the first action on the page. *10x from*"
        " is the time of thinking from which the whole replay is ten times as fast. *Healed* is the"
        " number of requests after the target was moved, renamed and restyled."
    )
    rows = (
        (
            name,
            f"{one['screen']['passed']}, {one['window']['passed']}",
            one["model_requests"],
            *(
                f"{one[f'scripted_{kind}']:.1f} s, {one[f'replay_{kind}']:.1f} s"
                f" ({one[f'times_faster{suffix}']:g}x)"
                for kind, suffix in (("seconds", ""), ("acting_seconds", "_acting"))
            ),
            f"{one['ten_times_from_think_seconds']:g} s",
            f"{one['changed']['healed_steps']} ({one['changed']['outcome']})",
            one["load_1m"],
        )
        for name, one in flows.items()
    )
    head = ("passed", "requests", "whole: script, replay", "acting: script, replay", "10x from")
    yield markdown_table(("flow", *head, "healed", "load"), rows)


def accessibility(found: Json) -> Iterator[str]:
    yield "## The tree of widgets"
    yield (
        f"A page of {found['widgets']:,} widgets in the desktop's browser, read in one request"
        f" (`python -m bench.accessibility`, {found['trials']} times in turns, load"
        f" {found['machine']['load_1m']})."
    )
    rows = (
        (way, f"{it['median_s']} s", f"{it['quickest_s']} s") for way, it in found["ways"].items()
    )
    yield markdown_table(("form", "median", "quickest"), rows)


def mcp(found: Json) -> Iterator[str]:
    yield "## A click over MCP"
    yield (
        "A click with its settled image over MCP, and by our own route in the same place, in turns"
        f" (`python -m bench.mcp`, load {found['machine']['load_1m']}). The quickest of all turns"
        " shows what a way costs while other work keeps the machine busy. `deskhand mcp` without a"
        f" control plane lists its tools {found['listed_ms']} ms after its start; 200 calls over"
        f" `/mcp` add {found['http']['grown_mib']} MiB to the desktop service."
    )
    ways = {
        "`/mcp` of a desktop": ("http", "mcp"),
        "`/mcp` after `initialize`": ("http", "mcp_initialize"),
        "standard input and output": ("stdio", "stdio"),
    }
    rows = (
        (
            title,
            *(
                f"{found[place][kind][way]} ms"
                for kind in ("median", "quickest")
                for way in (name, "route")
            ),
        )
        for title, (place, name) in ways.items()
    )
    yield markdown_table(("way", "median", "our route", "quickest", "our route"), rows)


def gym_steps(found: Json) -> Iterator[str]:
    yield "## A step of gym_anything"
    yield (
        f"A click and the pixels of the whole screen, 1920x1080, with gym_anything of cua-speedrun"
        f" {found['version']}: a step of `examples/gym_anything_env.py` (the picture comes in the"
        " reply to the click; *settled* waits until the screen rests), and gym_anything's own"
        " `vnc_utils` on the same desktop, in turns (`python -m bench.gym_steps`, load"
        f" {found['machine']['load_1m']})."
    )
    for scene, times in found["click_and_picture_ms"].items():
        yield f"On {scene}:"
        yield compared(times)


def forward(found: Json) -> Iterator[str]:
    yield "## `deskhand forward`"
    through = found["throughput_mib_s"]
    yield (
        f"One viewer through `deskhand forward vnc` gets {through['forward']:,} MiB/s, through the"
        f" relay alone {through['relay']:,} MiB/s ({through['ratio']} of it). The command listens"
        f" after {found['ready_ms']} ms and uses {found['rss_mib']} MiB"
        " (`python -m bench.forward`)."
    )


def commands(found: Json) -> Iterator[str]:
    yield "## Commands"
    yield "From their start to their end, with a control plane and a desktop that run:"
    rows = []
    for name, times in found["commands_ms"].items():
        ours, nothing = times[f"deskhand {name}"], times["python -c pass"]
        rows.append((f"`deskhand {name}`", f"{ours:.0f} ms", f"{nothing:.0f} ms"))
    yield markdown_table(("command", "median", "`python -c pass`"), rows)


SECTIONS = {
    "launch": launch,
    "start": start,
    "browser_start": browser,
    "screenshot": screenshots,
    "service": service,
    "settle": settle,
    "settle_rules": settle_rules,
    "recording": recording,
    "relay": relay,
    "forward": forward,
    "mcp": mcp,
    "gym_steps": gym_steps,
    "accessibility": accessibility,
    "fleet": fleet,
    "frame_cost": frame_cost,
    "plane": plane,
    "calls": calls,
    "waiting": waiting,
    "agents_overhead": agents_overhead,
    "cluster": cluster,
    "cluster_puts": cluster_puts,
    "cluster_live": cluster_live,
    "cluster_nodes": page_of_cluster.nodes,
    "cluster_events": page_of_cluster.events,
    "cluster_chats": page_of_cluster.chats,
    "cluster_start": page_of_cluster.one_machine,
    "agents_calls": agents_calls,
    "agents": agents,
    "playbooks": playbooks,
    "commands": commands,
}


def main() -> None:
    parts = [HEAD.strip()]
    for name, section in SECTIONS.items():
        # What has not been measured yet has no section.
        if not (RESULTS / f"{name}.json").is_file():
            continue
        parts += section(json.loads((RESULTS / f"{name}.json").read_text()))
        if name == "recording":
            parts += pages()
    PAGE.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
