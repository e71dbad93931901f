"""Links lead somewhere, blocks of code have a kind, and README stays short."""

import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from tests.system.documents import DATA, OUTPUT, PROGRAMS, Block, blocks

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NOT_RUN = 18
"""Blocks of code with a reason not to run: a new one has to change this number."""
BLOCKS = blocks()
EXTERNAL = re.compile(r"(https?://[\w.-]+(:\d+)?(/[^\s]*)?|mailto:[\w.@+-]+)")


def text_of(path: Path) -> str:
    """Return a document without its blocks and spans of code."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(path: Path) -> set[str]:
    """Return the anchors of the headings of a document, as hosts of repositories make them."""
    without = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    found = set[str]()
    for heading in re.findall(r"^#+ (.*)$", without, re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(plain.strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_has_a_target(path: Path) -> None:
    wrong = []
    for link in LINK.findall(text_of(path)):
        if ":" in link.partition("#")[0]:
            # Other sites are not asked; the form must be that of an address.
            wrong += [] if EXTERNAL.fullmatch(link) else [link]
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert wrong == []


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "security.md").read_text()))
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert named
    assert named <= set(re.findall(r"def (test_\w+)\(", sources))


@pytest.mark.parametrize(
    ("name", "title"), [("control_plane", "Control plane"), ("desktop", "Desktop")]
)
def test_the_page_of_routes_has_all_of_them(name: str, title: str) -> None:
    page = (ROOT / "docs" / "http-reference.md").read_text()
    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^### `([A-Z]+ [^`]+)`$", section, re.MULTILINE))
    known = set(json.loads((ROOT / f"tests/data/operations/{name}.json").read_text()))
    assert listed == known, "run: python -m scripts.make_http_reference"


def test_every_block_has_a_kind_and_few_do_not_run() -> None:
    unknown = [str(one) for one in BLOCKS if one.kind not in PROGRAMS | DATA | OUTPUT]
    assert unknown == []
    assert len([one for one in BLOCKS if one.reason]) == NOT_RUN


@pytest.mark.parametrize("block", [one for one in BLOCKS if one.kind in DATA], ids=str)
def test_data_are_well_formed(block: Block) -> None:
    match block.kind:
        case "json":
            json.loads(block.code)
        case "toml":
            tomllib.loads(block.code)
        case "yaml":
            yaml.safe_load(block.code)
        case _:
            HTMLParser().feed(block.code)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


def test_the_pictures_are_small() -> None:
    assert (ROOT / "docs" / "run.webp").stat().st_size <= 2_000_000
