"""Blocks of code in Markdown documents."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PROGRAMS = {"sh", "bash", "python"}
DATA = {"json", "toml", "yaml", "html"}
OUTPUT = {"", "text"}
"""Kinds of blocks that show an output or a drawing."""
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+) -->\n)?^```(?P<kind>\w*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A block of code, and the reason if it cannot run in a test."""

    document: str
    line: int
    kind: str
    code: str
    reason: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def blocks() -> list[Block]:
    """Return the blocks of README and of all documents of the folder ``docs``, in their order."""
    found = []
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text()
        found += [
            Block(
                path.name,
                text.count("\n", 0, block.start()) + 1,
                block["kind"],
                block["code"],
                block["reason"] or "",
            )
            for block in _BLOCK.finditer(text)
        ]
    return found
