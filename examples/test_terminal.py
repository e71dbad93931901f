"""A test of an application with the pytest plugin; run `pytest examples/test_terminal.py`."""

import sys

from deskhand import Desktop, expect

USAGE = "usage: pytest examples/test_terminal.py"


def test_a_terminal_shows_its_title(desktop: Desktop) -> None:
    """The video of a failed test is in `deskhand-results`."""
    desktop.applications.launch_command("xterm -T Notes", "-e", "cat")
    seen = expect(desktop).to_have_window("Notes")
    assert seen.picture.size == (1280, 720)


if __name__ == "__main__":
    sys.exit(USAGE)
