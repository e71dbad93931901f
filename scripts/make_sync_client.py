"""Generate the client modules without ``await`` from those with it."""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent
NAMES = (
    *(
        f"desktop/client/{name}"
        for name in ("transport", "received_events", "session", "input_devices")
    ),
    *("desktop/client/screen_waits", "desktop/remote"),
    *(f"tools/client/{name}" for name in ("plane_transport", "run_events", "run")),
    *(f"tools/client/{name}" for name in ("collections", "client", "expectations")),
)

_GENERATED = [name.rpartition("/")[2] for name in NAMES]
_CHANGES = (
    (r"import asyncio\n", ""),
    (r"await asyncio\.to_thread\(([\w.()]+), ", r"\1("),
    (r"await asyncio\.to_thread\(([\w.]+)\)", r"\1()"),
    (r"``async with``", "``with``"),
    (r"async def ", "def "),
    (r"await ", ""),
    (r"__a(enter|exit|iter|next)__", r"__\1__"),
    (r"AsyncExitStack", "ExitStack"),
    (r"enter_async_context", "enter_context"),
    (r"\.aclose\(", ".close("),
    (r"StopAsyncIteration", "StopIteration"),
    (r"async (with|for) ", r"\1 "),
    (rf"from (\S*\.)({'|'.join(_GENERATED)}) import", r"from \1\2_sync import"),
    (r"from (\S*\.)http import DesktopClient\n", r"from \1blocking import BlockingClient\n"),
    (r"DesktopClient", "BlockingClient"),
    (r"from (\S*\.)lines import StreamedLines\n", r"from \1blocking import BlockingLines\n"),
    (r"\bStreamedLines\b", "BlockingLines"),
)
_TITLE = '''"""{first}

For programs without an event loop. Written from ``deskhand.{name}`` by
``scripts/make_sync_client.py``: change it there.
"""
'''


def source(name: str) -> Path:
    """Return the path of the module that is written by hand."""
    return FOLDER / f"{name}.py"


def written(name: str) -> Path:
    """Return the path of the module that is generated from it."""
    return FOLDER / f"{name}_sync.py"


def without_await(name: str) -> str:
    """Return the source of the module without ``await``."""
    body = source(name).read_text()
    first = body.removeprefix('"""').partition("\n")[0].removesuffix('"""')
    title = _TITLE.format(first=first, name=name.replace("/", "."))
    body = re.sub(r'\A""".*?"""\n', lambda _: title, body, flags=re.DOTALL)
    for pattern, by in _CHANGES:
        body = re.sub(pattern, by, body)
    return _ordered(body)


def _ordered(body: str) -> str:
    """Sort the imports and format the source as ruff requires."""
    for command in (("check", "--select", "I", "--fix", "--quiet"), ("format", "--quiet")):
        body = subprocess.run(
            [*(sys.executable, "-m", "ruff"), *command, "--stdin-filename", "desktop/it.py", "-"],
            input=body,
            capture_output=True,
            text=True,
            check=True,
            cwd=FOLDER,
        ).stdout
    return body


def main() -> None:
    """Write the files."""
    for name in NAMES:
        written(name).write_text(without_await(name))


if __name__ == "__main__":
    main()
