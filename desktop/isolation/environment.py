"""The environment that a desktop's applications and processes start with."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePath

BROWSER_HOME = "run/browser"
"""Home of a browser with a user of its own, in the directory of the desktop. That user cannot write
there: some files below a home name libraries to load, and a page can be saved as any file."""

INSTANCE = "DESKHAND_INSTANCE"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def built(
    folder: PurePath,
    user: str,
    instance: str,
    *,
    inherited: Mapping[str, str],
    inherit: Collection[str] = (),
    given: Iterable[tuple[str, str]] = (),
) -> dict[str, str]:
    """Return the environment; of ``inherited`` it has only locale, time zone and ``inherit``.

    ``given`` are names with values that replace all others.
    ``instance`` marks every descendant process of this desktop, so that `leftovers` finds it.
    """
    all_categories = inherited.get("LC_ALL")
    language = utf8_locale(all_categories or inherited.get("LANG"))
    script = all_categories or inherited.get("LC_CTYPE") or language
    home = str(folder / "home")
    environment = {
        "PATH": f"{folder / 'bin'}:{SYSTEM_PATH}",
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/bash",
        "LANG": language,
        "LC_CTYPE": utf8_locale(script),
        "TERM": "xterm-256color",
        "TMPDIR": str(folder / "tmp"),
        "XDG_RUNTIME_DIR": str(folder / "run" / "agent"),
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_DATA_DIRS": f"{folder / 'share'}:/usr/local/share:/usr/share",
    }
    for name in ("TZ", *inherit):
        if name in inherited:
            environment[name] = inherited[name]
    return environment | dict(given) | {INSTANCE: instance}


def of_service(environment: Mapping[str, str], folder: PurePath, user: str) -> dict[str, str]:
    """Return the environment of programs that run as the service's user instead of the agent's."""
    own = str(folder / "run" / "service")
    return {
        **environment,
        "HOME": own,
        "USER": user,
        "LOGNAME": user,
        "TMPDIR": own,
        "XDG_RUNTIME_DIR": own,
        "XDG_CONFIG_HOME": f"{own}/.config",
        "XDG_CACHE_HOME": f"{own}/.cache",
        "XDG_DATA_HOME": f"{own}/.local/share",
        # They keep no settings, and ask no program of the agent for them (GSettings, dconf).
        "GSETTINGS_BACKEND": "memory",
    }


def of_browser(folder: PurePath, user: str) -> dict[str, str]:
    """Return the variables of a browser with a user of its own that replace those of the agent.

    The agent can write no file that the browser, its libraries or its scripts are configured by,
    and no directory in which its programs are searched.
    """
    home, own = str(folder / BROWSER_HOME), str(folder / "browser")
    return {
        "PATH": f"{folder / 'bin'}:{SYSTEM_PATH}",
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        # Chromium's socket there has a path of 50 characters more, and 107 are the most.
        "TMPDIR": "/tmp",  # noqa: S108 - that of the desktop's own namespace
        "XDG_RUNTIME_DIR": own,
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_CACHE_HOME": f"{own}/.cache",
        "XDG_DATA_HOME": f"{home}/.local/share",
    }


def utf8_locale(wanted: str | None) -> str:
    """Return the locale if its encoding is UTF-8, else ``C.UTF-8``, which every glibc has."""
    encoding = (wanted or "").lower().replace("-", "")
    return wanted if wanted and "utf8" in encoding else "C.UTF-8"
