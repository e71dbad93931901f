"""Rules of the settings of a cluster. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

HOST_PORT = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s/?#@:\[\]]+):\d{1,5}")
MOST_PLACES = 4096
NEEDED_IN_A_CLUSTER = ("certificates", "database", "store")
"""Settings without which desktops on nodes, or their files, would be out of others' reach."""
RAY_PORTS = 50
"""Ports of the Ray processes of a node."""
_NODE_NAME = re.compile(
    r"(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d{1,5})?"
)
NAMES = (
    *("certificates", "cluster", "database", "insecure", "internal_listen", "node_names"),
    *("places", "public_listen", "ray_port", "store", "tls_cert"),
)
"""Settings that the rules read."""
_DATABASE = re.compile(r"postgresql://\S+")
_USER_AND_PASSWORD = re.compile(r"postgresql://[^:/]*(:(?P<password>[^@]*))?@")
"""As SQLAlchemy reads a URL: a password may contain ``/``, ``?`` and ``#``."""
_INSTEAD = (
    "give PGPASSWORD, PGPASSFILE (a file that only its owner reads),"
    " or postgresql://USER:PASSWORD@HOST/NAME in DESKHAND_DATABASE"
)


def database_problem(url: str, *, in_environment: bool) -> str | None:
    """Return why the URL of a database cannot be used; its text may be a secret.

    A password may be in the part of the user alone, which errors and logs hide, and of an
    environment alone.
    """
    if not _DATABASE.fullmatch(url):
        return "give a URL such as postgresql://deskhand@db.example.com/deskhand"
    try:
        urlsplit(url)
    except ValueError:
        # The text of the error may contain the password.
        return "the URL is not valid; a password with brackets has %5B for [ and %5D for ]"
    user = _USER_AND_PASSWORD.match(url)
    rest = url if user is None else url[user.end() :]
    names = [name for name, _ in parse_qsl(rest.partition("?")[2], keep_blank_values=True)]
    secret = next((name for name in names if "password" in name.casefold()), None)
    if secret is not None:
        why = f"errors and logs would show {secret} of the URL's query"
        return f"{why}; {_INSTEAD}"
    if user is not None and user["password"] and not in_environment:
        return f"a password does not belong into deskhand.toml; {_INSTEAD}"
    return None


def plane_problem(values: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the setting of a control plane that needs others, and these; as `cluster_problem`.

    A node has an address of Ray, too, and must not have the others.
    """
    missing = [name for name in NEEDED_IN_A_CLUSTER if not values[name]]
    if not values["cluster"] or not missing:
        return None
    *first, last = missing
    listed = f"{', '.join(first)} and {last} are" if first else f"{last} is"
    return "cluster", f"{listed} needed, too, by a control plane; see docs/cluster.md"


def cluster_problem(values: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the first setting that is wrong, and the reason; ``values`` are those of `NAMES`."""
    return next(_problems(values), None)


def _problems(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, example in (
        ("internal_listen", "10.0.0.5:7443"),
        ("cluster", "10.0.0.5:6379"),
        ("public_listen", "0.0.0.0:443"),
    ):
        if values[name] and not HOST_PORT.fullmatch(values[name]):
            yield name, f"give HOST:PORT, such as {example}"
    if values["internal_listen"] and not (values["certificates"] and values["database"]):
        yield "internal_listen", "certificates and database are needed, too"
    if values["public_listen"] and not (values["tls_cert"] or values["insecure"]):
        yield "public_listen", "tls_cert and tls_key are needed, too; viewers come from elsewhere"
    if not 1 <= values["places"] <= MOST_PLACES:
        yield "places", f"give 1 to {MOST_PLACES}"
    first = values["ray_port"]
    if first and not 1024 <= first <= 65536 - RAY_PORTS:
        yield "ray_port", f"give 1024 to {65536 - RAY_PORTS}, or 0 for any ports"
    yield from _wrong_names(values["node_names"])


def _wrong_names(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        if not _NODE_NAME.fullmatch(name):
            example = "n7.desk.example.com, *.desk.example.com or n7.example.com:8443"
            yield "node_names", f"{name!r} is no name such as {example}"
