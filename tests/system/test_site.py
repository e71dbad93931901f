"""The site of the documentation is built without a warning, and asks nothing of other sites."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.system.services import PATIENCE

pytestmark = [pytest.mark.soak, pytest.mark.slow("builds the whole site")]

ROOT = Path(__file__).parents[2]
MKDOCS = ROOT / ".venv-docs" / "bin" / "mkdocs"
LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio)[^>]*\ssrc=[\"']?(?:https?:)?//"
    r"|<link[^>]*(?:stylesheet|icon|preload|preconnect|modulepreload)[^>]*href=[\"']?(?:https?:)?//"
    r"|<link[^>]*href=[\"']?(?:https?:)?//[^>]*(?:stylesheet|icon|preload|preconnect)"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not MKDOCS.exists():
        pytest.skip("`make docs` makes the environment .venv-docs")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [str(MKDOCS), "build", "--quiet", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=30 * PATIENCE,
    )
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    return folder


def test_no_page_loads_anything_of_another_site(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        text = page.read_text()
        assert not LOADED.search(text), page.name
        # Browsers refuse what a page would load in another way.
        assert "default-src 'self'" in text, page.name
    for sheet in site.rglob("*.css"):
        text = sheet.read_text()
        assert not re.search(r"url\([\"']?(?:https?:)?//|@import", text), sheet.name


def test_every_document_of_the_checkout_is_in_the_site(site: Path) -> None:
    written = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"README"}
    assert written <= {path.stem for path in site.glob("*.html")}
    assert (site / "project" / "examples.html").exists()
