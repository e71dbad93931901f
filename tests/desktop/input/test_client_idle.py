from pathlib import Path

import pytest

from deskhand.desktop.input.client_idle import with_helpers

BROWSER = "/usr/lib/chromium/chromium"
PROCESSES: dict[int, tuple[int, list[str]]] = {
    10: (1, [BROWSER, "--no-first-run"]),
    11: (10, [f"{BROWSER} --type=zygote --no-sandbox"]),
    12: (11, [f"{BROWSER} --type=renderer"]),
    13: (10, ["/usr/bin/xdg-mime", "query"]),
    20: (1, ["/usr/bin/xterm"]),
    21: (20, ["bash"]),
    30: (1, [BROWSER]),
}
"""Parent and arguments of processes."""


@pytest.mark.parametrize(
    ("process", "expected"), [(10, [10, 11, 12]), (20, [20]), (30, [30]), (40, [40])]
)
def test_helpers_of_an_application_run_its_program(
    process: int, expected: list[int], tmp_path: Path
) -> None:
    (tmp_path / "meminfo").touch()
    for number, (parent, arguments) in PROCESSES.items():
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "stat").write_text(f"{number} (a) b) S {parent} {number} 0 0")
        (folder / "cmdline").write_text("\0".join([*arguments, ""]))
    # A process that ended while the folders were read.
    (tmp_path / "50").mkdir()
    assert list(with_helpers(process, tmp_path)) == expected
