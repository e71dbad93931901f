"""Hook of mkdocs: adds the documents beside the folder ``docs`` to the site, and fits the links.

The documents are read in a checkout too, so that their links lead to files. In the site a document
of the checkout is below ``project/``, and all examples are one page.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
EXAMPLES = "project/examples.md"
_LINK = re.compile(r"(!?\[[^\]]*\])\(((?!\w+:|#)[^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the documents of the checkout."""
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, f"project/{name}", content=text))
    files.append(File.generated(config, EXAMPLES, content=examples()))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Let the links of a document lead to the pages of the site."""
    within = Path(page.file.src_uri)
    origin = ROOT if within.parts[0] == "project" else ROOT / "docs" / within.parent

    def fitted(found: re.Match[str]) -> str:
        text, path, anchor = found[1], found[2], found[3] or ""
        at = (origin / path).resolve()
        if not at.is_relative_to(ROOT):
            return found[0]
        target = place(at.relative_to(ROOT), anchor)
        if target is None:
            # A file that the site does not have is named as it is.
            return f"{text[1:-1]} (`{at.relative_to(ROOT)}`)"
        return f"{text}({'../' * (len(within.parts) - 1)}{target})"

    return _outside_of_blocks(markdown, fitted)


def place(path: Path, anchor: str = "") -> str | None:
    """Return where the site has a file of the checkout; None if it has not."""
    name = path.as_posix()
    if path.parts[:1] == ("docs",):
        return f"{path.relative_to('docs').as_posix()}{anchor}"
    if name in DOCUMENTS:
        return f"project/{name}{anchor}"
    if path.parts[:1] == ("examples",):
        return f"{EXAMPLES}#{path.stem}" if path.suffix else EXAMPLES
    return None


def examples() -> str:
    """Return the page with all examples."""
    parts = ["# Examples\n"]
    for path in sorted((ROOT / "examples").glob("*.py")):
        source = path.read_text(encoding="utf-8")
        parts.append(f"## {path.name} {{ #{path.stem} }}\n\n```python\n{source}```\n")
    return "\n".join(parts)


def _outside_of_blocks(markdown: str, fitted: Any) -> str:
    pieces = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        piece if piece.startswith("```") else _LINK.sub(fitted, piece) for piece in pieces
    )
