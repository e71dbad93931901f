"""What a node may know: its settings, and the variables of its environment. Pure.

A node that an attacker has taken over must not expose more than its own desktops. So what it needs
is listed; passwords of databases, keys of buckets and of model providers are not.
"""

from collections.abc import Mapping

SETTINGS = frozenset(
    {
        *("browser", "browser_sandbox", "certificates", "cluster", "data_dir"),
        *("desktop_cpu_weight", "desktop_memory_mib", "desktop_processes", "desktop_tmp_mib"),
        *("egress", "egress_allow", "egress_grants", "insecure", "keep_desktops", "launcher"),
        *("listen", "log_format", "log_level", "places", "public_listen", "public_url"),
        *("ray_port", "run_as", "speak", "tls_cert", "tls_key", "uid_base", "workdirs"),
    }
)
_VARIABLES = frozenset(
    {
        *("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
        *("NOTIFY_SOCKET", "XDG_RUNTIME_DIR"),
        *("PYTHONASYNCIODEBUG", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONUNBUFFERED"),
        *("RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH", "RAY_USE_TLS"),
        *("RAY_TLS_CA_CERT", "RAY_TLS_SERVER_CERT", "RAY_TLS_SERVER_KEY"),
        *(f"DESKHAND_{name.upper()}" for name in SETTINGS),
    }
)


def node_environment(variables: Mapping[str, str], passed_on: frozenset[str]) -> dict[str, str]:
    """Return the variables that a node keeps; ``passed_on`` are those that desktops get."""
    kept = _VARIABLES | passed_on
    return {
        name: value
        for name, value in variables.items()
        if name in kept or name.startswith(("LC_", "RAY_health_"))
    }


def foreign_settings(sources: Mapping[str, str]) -> list[str]:
    """Return the settings that are given and that a node must not have, by their names."""
    return sorted(sources.keys() - SETTINGS)


def ray_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a node's Ray processes, which must show their token."""
    kept = {
        name: value
        for name, value in variables.items()
        if name in ("HOME", "LANG", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER")
        or name.startswith(("LC_", "RAY_"))
    }
    return kept | {"RAY_AUTH_MODE": "token"}
