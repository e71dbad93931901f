"""Writes desktop/remote_sync.py from desktop/remote.py: the same client without ``await``."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "desktop"
ASYNC, SYNC = FOLDER / "remote.py", FOLDER / "remote_sync.py"

_CHANGES = (
    (r"import asyncio\n", ""),
    (r"await asyncio\.to_thread\(([\w.()]+), ", r"\1("),
    (r"await asyncio\.to_thread\(([\w.]+)\)", r"\1()"),
    (r"``async with``", "``with``"),
    (r"async def ", "def "),
    (r"await ", ""),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"from \.client import DesktopClient\n", "from .blocking import BlockingClient\n"),
    (r"DesktopClient", "BlockingClient"),
)
_TITLE = '''"""A desktop from the outside, for programs without an event loop.

Written from ``desktop.remote`` by ``scripts/make_sync_client.py``: change it there.
"""
'''


def without_await(source: str) -> str:
    """Return the module without ``await``."""
    body = re.sub(r'\A""".*?"""\n', _TITLE, source, flags=re.DOTALL)
    for pattern, by in _CHANGES:
        body = re.sub(pattern, by, body)
    # The order of imports is that of ruff.
    first, second = "from .child import Child\n", "from .blocking import BlockingClient\n"
    return body.replace(first + second, second + first)


def main() -> None:
    """Write the file."""
    SYNC.write_text(without_await(ASYNC.read_text()))


if __name__ == "__main__":
    main()
