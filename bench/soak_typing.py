"""Type all 500 strings of the corpus into xterm, Chromium and GTK, with three layouts, under load.

Usage: python -m bench.soak_typing [--layouts us,de,fr] [--busy 0,2] [--every N]
"""

import argparse
import json
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench.tables import save
from tests.system.services import service
from tests.system.test_desktop_typing import busy, set_layout
from tests.system.typing_targets import Terminal, TextTarget, TextView, text_area

STRINGS: list[str] = json.loads(
    (Path(__file__).parents[1] / "tests" / "data" / "typing.json").read_text()
)


@contextmanager
def targets(folder: Path, layout: str) -> Iterator[dict[str, TextTarget]]:
    """Open a terminal, a browser and a text view, each on a desktop of its own."""
    with ExitStack() as stack:
        desktops = [
            stack.enter_context(service(folder / f"{name}.log", "desktop")) for name in "abc"
        ]
        found: dict[str, TextTarget] = {
            "xterm": Terminal(desktops[0]),
            "Chromium": stack.enter_context(text_area(desktops[1])),
            "GTK": TextView(desktops[2]),
        }
        for desktop in desktops:
            set_layout(desktop, layout)
        yield found


def measured(target: TextTarget, texts: list[str]) -> dict[str, Any]:
    """Type all texts; return how many arrived exactly, how many in NFC only, and wrong ones."""
    began = time.monotonic()
    exact, composed, wrong = 0, 0, list[tuple[str, str]]()
    for text in texts:
        found = target.received(text)
        if found == text:
            exact += 1
        elif unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", text):
            composed += 1
        else:
            wrong.append((text, found))
    return {
        "strings": len(texts),
        "exact_percent": round(100 * exact / len(texts), 2),
        "equal_by_nfc": composed,
        "seconds": round(time.monotonic() - began, 1),
        "wrong": wrong[:5],
    }


def main() -> int:
    """Type everywhere; return 0 when all texts arrived exactly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layouts", default="us,de,fr")
    parser.add_argument("--busy", default="0,2", help="processes that take all time they get")
    parser.add_argument("--every", type=int, default=1, help="take every so manieth string")
    asked = parser.parse_args()
    texts = STRINGS[:: asked.every]
    results: dict[str, Any] = {}
    for layout in asked.layouts.split(","):
        with (
            tempfile.TemporaryDirectory() as folder,
            targets(Path(folder), layout) as found,
            ThreadPoolExecutor() as threads,
        ):
            for loops in map(int, asked.busy.split(",")):
                with busy(loops):
                    measurements = threads.map(
                        lambda target: measured(target, texts), found.values()
                    )
                    for name, facts in zip(found, measurements, strict=True):
                        results[f"{name}, {layout}, {loops} busy loops"] = facts
                        print(f"{layout} {name} beside {loops} loops: {facts}", flush=True)
    save("soak_typing", {"typing": results})
    return 0 if all(facts["exact_percent"] == 100 for facts in results.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
