"""Kill recorders at random moments; their files must play, and be recovered by the next one.

Each file is read by ffprobe, and some by Chromium, as the kill left it; then it is recovered and
read again. Everything that the screen showed until a second before the kill must be in it, or until
1.5 s before it where processes that use a processor each run beside it.
Usage: python -m bench.soak_kills [--kills 50] [--browser 3] [--seed 0] [--burners 0]
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.tables import save
from deskhand.recording.library.catalog import Catalog
from tests.recording.fakes import decoded
from tests.system.browsing import plain_connection, running_chromium
from tests.system.test_recording_crash import A, killed_at_random
from tests.system.test_recording_playback import played, player

AT_ONCE = 4
SIZE, SIZE_BUSY = (320, 240), (1920, 1080)
"""Size of the screen; beside burners it is full of noise, which takes long to encode."""
PROMISED = 1.0
PROMISED_BUSY = 1.5
"""Seconds before the kill that may be missing; on a busy machine."""


def lost(folder: Path, seed: int, size: tuple[int, int]) -> float:
    """Kill a recorder and recover its file; return how many seconds before the kill are missing."""
    shown, killed = killed_at_random(folder, seed, size)
    catalog = Catalog(folder)
    left = catalog.video(A)
    frames = counted(left)
    (folder / "left.mp4").write_bytes(left.read_bytes())
    assert catalog.recover() == (A,)
    facts = catalog.get(A)
    assert (facts["status"], facts["end_reason"]) == ("stored", "service_lost"), facts
    kept = {number for _, number in decoded(catalog.video(A))}
    assert frames >= len(kept), (frames, len(kept))
    missing = [at for number, at in shown.items() if number not in kept]
    return killed - min(missing, default=killed)


def counted(video: Path) -> int:
    """Return the number of pictures that ffprobe decodes."""
    asked = ["ffprobe", "-v", "fatal", "-count_frames", "-select_streams", "v"]
    asked += ["-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", str(video)]
    return int(subprocess.run(asked, capture_output=True, check=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--browser", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--burners", type=int, default=0)
    options = parser.parse_args()
    with burning(options.burners):
        ends = kills(options)
    promised = PROMISED_BUSY if options.burners else PROMISED
    late = [options.seed + i for i, end in enumerate(ends) if end > promised]
    print(f"{len(ends)} kills, seed {options.seed}: at most {max(ends):.2f} s lost")
    result = {"kills": len(ends), "seed": options.seed, "most_lost_s": round(max(ends), 2)}
    if options.burners:
        save("soak_kills_busy", result | {"burners": options.burners, "late": len(late)})
    else:
        save("soak_kills", result)
    assert not late, f"seeds {late} lost more than {promised} s"


@contextmanager
def burning(processes: int) -> Iterator[None]:
    """Keep processors busy with processes that count without pause."""
    with ExitStack() as running:
        for _ in range(processes):
            burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            running.enter_context(burner)
            running.callback(burner.kill)
        yield


def kills(options: argparse.Namespace) -> list[float]:
    """Kill recorders; return how many seconds before each kill are missing."""
    seeds = range(options.seed, options.seed + options.kills)
    size = SIZE_BUSY if options.burners else SIZE
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(AT_ONCE) as pool:
        folder = Path(place)
        ends = list(pool.map(lambda seed: lost(folder / str(seed), seed, size), seeds))
        with (
            running_chromium(folder / "chromium") as chrome,
            plain_connection(chrome) as browser,
            player(browser, folder) as page,
        ):
            for seed in seeds[: options.browser]:
                left = folder / str(seed) / "left.mp4"
                assert played(page, left, [0.05, 1.0], to_the_end=False)["seen"][1] > 0
    return ends


if __name__ == "__main__":
    main()
