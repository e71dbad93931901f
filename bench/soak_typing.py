"""Types all 500 strings of the corpus into xterm and Chromium, under three layouts and load.

Usage: python -m bench.soak_typing [--layouts us,de,fr] [--busy N]
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.system.services import service
from tests.system.test_desktop_typing import busy, difference, set_layout
from tests.system.typing_places import Place, Terminal, text_area

STRINGS: list[str] = json.loads(
    (Path(__file__).parents[1] / "tests" / "data" / "typing.json").read_text()
)


@contextmanager
def places(folder: Path, layout: str) -> Iterator[dict[str, Place]]:
    """A terminal and a browser, each on a desktop of its own."""
    with ExitStack() as stack:
        first = stack.enter_context(service(folder / "first.log", "desktop"))
        second = stack.enter_context(service(folder / "second.log", "desktop"))
        found: dict[str, Place] = {
            "xterm": Terminal(first),
            "Chromium": stack.enter_context(text_area(second)),
        }
        for desktop in (first, second):
            set_layout(desktop, layout)
        yield found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layouts", default="us,de,fr")
    parser.add_argument("--busy", type=int, default=0, help="processes that take all time they get")
    asked = parser.parse_args()
    for layout in asked.layouts.split(","):
        with (
            tempfile.TemporaryDirectory() as folder,
            places(Path(folder), layout) as found,
            busy(asked.busy),
        ):
            for name, place in found.items():
                began = time.monotonic()
                wrong = sum(bool(difference(text, place.received(text))) for text in STRINGS)
                taken = time.monotonic() - began
                print(f"{layout} {name}: {len(STRINGS) - wrong} of {len(STRINGS)}, {taken:.0f} s")


if __name__ == "__main__":
    main()
