"""One server of ``.mcp.json``. Pure."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Literal

Transport = Literal["stdio", "http", "sse"]

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ServerEntry:
    """Definition of a server, as it stands in the file: variables are not expanded."""

    name: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Pairs = ()
    url: str = ""
    headers: Pairs = ()

    @property
    def digest(self) -> str:
        """Return the hash by which a person approves exactly this definition."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def summary(self) -> str:
        """Return what the server runs or where it is, without values that may be secret."""
        named = " ".join(f"{name}=…" for name, _ in (*self.env, *self.headers))
        what = " ".join((self.command, *self.args))
        if self.transport != "stdio":
            what = _without_values(self.url)
        return f"{what} ({named})" if named else what


def _without_values(url: str) -> str:
    """Return a URL without its password and the values of its query."""
    address, mark, query = url.partition("?")
    scheme, slashes, rest = address.partition("://")
    server, slash, path = rest.partition("/")
    user, at, host = server.rpartition("@")
    hidden = f"{user.partition(':')[0]}:…" if ":" in user else user
    names = "&".join(f"{pair.partition('=')[0]}=…" for pair in query.split("&"))
    return f"{scheme}{slashes}{hidden}{at}{host}{slash}{path}{mark}{names if mark else ''}"
