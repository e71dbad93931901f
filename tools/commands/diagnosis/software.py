"""Findings about installed software: programs, fonts, Python packages, and the browser. Pure."""

from collections.abc import Callable, Iterator

from deskhand.desktop.browser.policy import BrowserLaunch

from .finding import Finding

Find = Callable[[str], str | None]
"""Returns where a program is installed, as `shutil.which` does."""

PROGRAMS = {
    "Xvnc": ("tigervnc-standalone-server", "fail"),
    "openbox": ("openbox", "fail"),
    "setpriv": ("util-linux", "fail"),
    "dbus-daemon": ("dbus", "fail"),
    "xterm": ("xterm", "warn"),
    "tint2": ("tint2", "warn"),
}
FONTS = {
    "DejaVu": "fonts-dejavu-core",
    "WenQuanYi": "fonts-wqy-zenhei",
    "Noto Color Emoji": "fonts-noto-color-emoji",
}
LIBRARIES = ("av", "numpy", "PIL", "xcffib", "anthropic", "sqlalchemy", "websockets")


def program_findings(find: Find) -> Iterator[Finding]:
    """Yield a finding for each program that desktops start."""
    for name, (package, severity) in PROGRAMS.items():
        found = find(name)
        if found is not None:
            yield Finding(name, "ok", found)
        elif severity == "fail":
            yield Finding(name, "fail", "not installed", f"apt-get install {package}")
        else:
            yield Finding(name, "warn", "not installed", f"apt-get install {package}")


def font_findings(installed: str) -> Iterator[Finding]:
    """Yield a finding for each font; ``installed`` is the output of ``fc-list``."""
    for name, package in FONTS.items():
        if name in installed:
            yield Finding(f"font {name}", "ok", "installed")
        else:
            yield Finding(f"font {name}", "warn", "not found", f"apt-get install {package}")


def library_findings(is_installed: Callable[[str], bool]) -> Iterator[Finding]:
    """Yield a finding for each Python package that is missing."""
    for name in LIBRARIES:
        if not is_installed(name):
            yield Finding(f"library {name}", "fail", "not installed", "run make setup")
    if not is_installed("isal"):
        yield Finding("library isal", "warn", "pictures are packed more slowly", "pip install isal")


def browser_findings(found: BrowserLaunch, wanted: str) -> Iterator[Finding]:
    """Yield the findings about the browser and its sandbox.

    ``wanted`` is the browser of the settings, empty for one that is found.
    """
    if found.program is None:
        remedy = "correct the setting browser" if wanted else "apt-get install chromium"
        yield Finding("browser", "warn", found.refusal, remedy)
        return
    yield Finding("browser", "ok", found.program)
    if found.refusal:
        remedy = "allow user namespaces, or set browser_sandbox to auto"
        yield Finding("browser sandbox", "fail", found.refusal, remedy)
    elif not found.sandboxed:
        remedy = "" if found.setting == "off" else "allow user namespaces"
        yield Finding("browser sandbox", "warn", f"off: {found.reason}", remedy)
    else:
        yield Finding("browser sandbox", "ok", "works")
