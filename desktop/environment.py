"""The environment that a desktop's applications and processes start with."""

from collections.abc import Collection, Mapping
from pathlib import PurePath

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def built(
    folder: PurePath,
    user: str,
    instance: str,
    *,
    inherited: Mapping[str, str],
    inherit: Collection[str] = (),
) -> dict[str, str]:
    """Return it whole: nothing of ``inherited`` is in it but locale, time zone and ``inherit``.

    ``instance`` marks every process that descends from this desktop, so that a sweep finds it.
    """
    language = utf8_locale(inherited.get("LC_ALL") or inherited.get("LANG"))
    home = str(folder / "home")
    environment = {
        "PATH": f"{folder / 'bin'}:{SYSTEM_PATH}",
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/bash",
        "LANG": language,
        "LC_CTYPE": language,
        "TERM": "xterm-256color",
        "TMPDIR": str(folder / "tmp"),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_DATA_DIRS": f"{folder / 'share'}:/usr/local/share:/usr/share",
        "DESKHAND_INSTANCE": instance,
    }
    for name in ("TZ", *inherit):
        if name in inherited:
            environment[name] = inherited[name]
    return environment


def utf8_locale(wanted: str | None) -> str:
    """Return the locale if it is a UTF-8 one, else ``C.UTF-8``, which every glibc has."""
    encoding = (wanted or "").lower().replace("-", "")
    return wanted if wanted and "utf8" in encoding else "C.UTF-8"
