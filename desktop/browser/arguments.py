"""Decision which arguments of a caller the browser gets. Pure.

Some switches of Chromium start programs of the caller as the browser's user, such as
``--renderer-cmd-prefix``, or open the browser to them, such as ``--remote-debugging-port``. So only
switches that change the window or the page are passed on.
"""

from collections.abc import Iterable

SWITCHES = frozenset(
    {
        *("--app", "--force-dark-mode", "--force-device-scale-factor", "--guest", "--incognito"),
        *("--kiosk", "--lang", "--new-tab", "--new-window", "--start-fullscreen"),
        *("--start-maximized", "--user-agent", "--window-name", "--window-position"),
        "--window-size",
    }
)
"""Switches that are passed on, without their values."""


def refused_switch(arguments: Iterable[str]) -> str | None:
    """Return the first switch that is not passed on; None if all are."""
    for one in arguments:
        # Chromium takes an argument that begins with a single dash for a switch too.
        if one.startswith("-") and one.partition("=")[0] not in SWITCHES:
            return one.partition("=")[0]
    return None


def refusal_of(switch: str) -> str:
    """Return the sentence that refuses a switch."""
    listed = ", ".join(sorted(SWITCHES))
    return f"not started with {switch}: of switches the browser gets {listed}"
