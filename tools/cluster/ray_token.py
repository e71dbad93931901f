"""The token of Ray, without which everyone in its network could run programs on each node."""

import stat
from collections.abc import Mapping
from pathlib import Path

MODE, TOKEN, TOKEN_PATH = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"


def token_problem(environment: Mapping[str, str]) -> str:
    """Return why Ray would be used without a token, or with one that is no secret; else empty."""
    if environment.get(MODE) != "token":
        return f"Ray is used with a token only; set {MODE}=token"
    if environment.get(TOKEN):
        return f"others can read {TOKEN}; give {TOKEN_PATH}, a file of mode 0600"
    path = token_file(environment)
    try:
        mode = path.stat().st_mode
        empty = not path.read_text().strip()
    except OSError as error:
        return f"the token of Ray cannot be read: {path}: {error.strerror}"
    if empty or not stat.S_ISREG(mode):
        return f"the token of Ray is missing in {path}"
    if mode & 0o077:
        return f"others may read the token of Ray; run chmod 600 {path}"
    return ""


def token_file(environment: Mapping[str, str]) -> Path:
    """Return the file of the token."""
    named, home = environment.get(TOKEN_PATH), environment.get("HOME")
    return Path(named) if named else Path(home or Path.home(), ".ray", "auth_token")
