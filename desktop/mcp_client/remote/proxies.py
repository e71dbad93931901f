"""The proxy of a request, by the variables that commands have. Pure.

A desktop whose egress is a list of names lets out its proxy only.
"""

from collections.abc import Mapping


def proxy_of(scheme: str, host: str, environment: Mapping[str, str]) -> str:
    """Return the URL of the proxy for a request; empty for a direct connection."""
    found = _variable(f"{scheme}_proxy", environment) or _variable("all_proxy", environment)
    if not found or _direct(host.lower(), _variable("no_proxy", environment)):
        return ""
    return found if "://" in found else f"http://{found}"


def _variable(name: str, environment: Mapping[str, str]) -> str:
    return (environment.get(name) or environment.get(name.upper()) or "").strip()


def _direct(host: str, exceptions: str) -> bool:
    for one in (part.strip().lower() for part in exceptions.split(",")):
        if one == "*" or one == host:
            return True
        # `.example.com` and `example.com` both cover what is below, as in curl(1).
        if one and host.endswith(f".{one.removeprefix('.')}"):
            return True
    return False
