"""A program that is not the browser imitates a page with a focused field, to be given a secret."""

import io
import shlex
import zipfile
from collections.abc import Iterator
from pathlib import Path

import jeepney
import pytest

from tests.attack.test_secrets import BANK, VALUE
from tests.system.services import PATIENCE, Json, Service, tidy, until

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

IMPOSTOR = Path(__file__).parents[1] / "data" / "page_impostor.py"
TREE = "/api/v0/desktop/accessibility"


@pytest.fixture
def desktop(tmp_path: Path) -> Iterator[Service]:
    """A desktop that follows the focus from the start."""
    with tidy(tmp_path / "errors.log") as found:
        found.get(TREE)
        yield found


def library() -> bytes:
    """Return jeepney as a zip file."""
    content, folder = io.BytesIO(), Path(jeepney.__file__).parent
    with zipfile.ZipFile(content, "w") as packed:
        for path in folder.rglob("*.py"):
            packed.write(path, path.relative_to(folder.parent))
    return content.getvalue()


def launched(desktop: Service) -> Path:
    """Have the service launch the impostor as an application; return the file for its loot.

    Such a program goes on while a secret is typed, as one would that an agent has changed by
    extensions of its own.
    """
    work = Path(desktop.post("/api/v0/processes/start", {"command": "pwd"})["workdir"])
    share, loot = work.parent / "share", work / "loot"
    for path, content in (
        (share / "jeepney.zip", library()),
        (share / "page_impostor.py", IMPOSTOR.read_bytes()),
    ):
        path.write_bytes(content)
        path.chmod(0o644)
    words = ("python3", share / "page_impostor.py", share / "jeepney.zip", loot, f"https://{BANK}/")
    entry = share / "applications" / "impostor.desktop"
    command = shlex.join(map(str, words))
    entry.write_text(f"[Desktop Entry]\nType=Application\nName=Impostor\nExec={command}\n")
    entry.chmod(0o644)
    desktop.post("/api/v0/desktop/launch", {"name": "impostor"})
    return loot


def type_value(desktop: Service, **where: object) -> tuple[int, Json]:
    wanted = {"action": "type", "text": VALUE, "protected": True, **where}
    answer = desktop.http.post("/api/v0/desktop/action", json=wanted, timeout=3 * PATIENCE)
    return answer.status_code, answer.json()


def test_a_program_that_imitates_a_page_is_not_given_its_secret(desktop: Service) -> None:
    loot = launched(desktop)
    # The control: the desktop takes its field for the one that has the focus.
    until(lambda: type_value(desktop) and loot.exists(), "a field that is filled")
    assert loot.read_text() == VALUE
    loot.unlink()
    status, body = type_value(desktop, hosts=[BANK])
    assert (status, body.get("code")) == (409, "foreign_host")
    assert not loot.exists()
