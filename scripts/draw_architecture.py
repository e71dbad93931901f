"""Write the folder table and the allowed imports into ARCHITECTURE.md.

Usage: python -m scripts.draw_architecture
"""

import ast
from collections.abc import Mapping
from pathlib import Path

from tests.layers import LAYERS
from tests.source_tree import SourceTree

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "ARCHITECTURE.md"


def drawn(tree: SourceTree, layers: Mapping[str, set[str]]) -> dict[str, str]:
    """Return the text of each generated part by its name."""
    rows = ["| folder | modules | purpose |", "|---|---|---|"]
    for folder, modules in sorted(tree.folders.items()):
        package = tree.modules.get(folder.replace("/", "."))
        purpose = ast.get_docstring(package.tree) if package else ""
        rows.append(f"| `{folder}/` | {len(modules)} | {' '.join((purpose or '').split())} |")
    imports = [
        f"| `{place}` | {', '.join(f'`{one}`' for one in sorted(allowed))} |"
        for place, allowed in sorted(layers.items())
    ]
    return {
        "folders": "\n".join(rows),
        "imports": "\n".join(["| folder | may import |", "|---|---|", *imports]),
    }


def updated(text: str, parts: Mapping[str, str]) -> str:
    """Return the page with the generated parts between their markers."""
    for name, part in parts.items():
        before, mark, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        if mark and end:
            text = f"{before}{mark}{part}\n{end}{after}"
    return text


def main() -> None:
    """Write the page."""
    PAGE.write_text(updated(PAGE.read_text(), drawn(SourceTree.at(ROOT), LAYERS)))


if __name__ == "__main__":
    main()
