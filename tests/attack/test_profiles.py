"""Named profiles: kept between desktops and after SIGKILL, and checked before each use."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.attack.attackers import output
from tests.attack.test_evidence import folder_of
from tests.attack.test_private_take_over import browser_of
from tests.live_trees import existing
from tests.system.services import PATIENCE, Service, service, until
from tests.vncbridge.fakes import short_folder

pytestmark = [
    pytest.mark.attack,
    pytest.mark.root,
    pytest.mark.x11,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the level is 'shared' here"),
]

WRITES = 600
"""Cookies that a page sets: Chromium writes them to the disk after 512 changes, or 30 seconds."""

# A host may have 180 cookies: that of the highest priority stays.
LOGIN = (
    "<script>document.cookie = 'signed_in=ada; Max-Age=86400; Priority=High';"
    f"for (let i = 0; i < {WRITES}; i++) document.cookie = `c${{i}}=1; Max-Age=86400`;"
    "document.title = 'signed in'</script>"
)
HOT_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""Begin of the journal of a transaction that is not committed (https://sqlite.org/fileformat)."""


class Site:
    """Pages that sign a browser in, and record what a browser shows."""

    def __init__(self) -> None:
        self.cookies: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.cookies.append(self.headers.get("Cookie") or "")
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                content = (LOGIN if self.path == "/login" else "<title>seen</title>").encode()
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def site() -> Iterator[Site]:
    found = Site()
    thread = threading.Thread(target=found.server.serve_forever)
    thread.start()
    yield found
    found.server.shutdown()
    found.server.server_close()
    thread.join()


@contextmanager
def desktop_with(profile: Path, errors: Path) -> Iterator[Service]:
    with service(errors, "desktop", "--profile", str(profile)) as found:
        yield found


def visit(desktop: Service, url: str, title: str) -> None:
    desktop.post("/api/v0/desktop/launch", {"name": "browser", "args": [url]})
    windows = "/api/v0/desktop/windows"
    until(lambda: title in str(desktop.get(windows)["windows"]), title)


def kept(site: Site, profile: Path, errors: Path) -> str:
    """Start a desktop with a profile and return the cookies that its browser sends."""
    with desktop_with(profile, errors) as desktop:
        before = len(site.cookies)
        visit(desktop, f"{site.url}/page", "seen")
        return " ".join(site.cookies[before:])


def files(profile: Path) -> Path:
    return profile / "files"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_sign_in_outlives_its_desktop(site: Site, tmp_path: Path) -> None:
    profile = tmp_path / "work"
    with desktop_with(profile, tmp_path / "first.log") as first:
        visit(first, f"{site.url}/login", "signed in")
        user = browser_of(first).uids().real
        # The browser writes files under other names and renames them.
        found = existing(list(files(profile).iterdir()), Path.lstat)
        assert {status.st_uid for status in found.values()} == {user}
        # The agent finds the place neither by its own path nor by that of the profile.
        folder = folder_of(first)
        for place in (folder / "browser", profile, files(profile)):
            assert output(first, f"ls {place} 2>&1; true").strip() != ""
            assert "Default" not in output(first, f"ls {place} 2>&1; true")
        with (
            pytest.raises(AssertionError, match="the profile work is in use by the desktop"),
            desktop_with(profile, tmp_path / "refused.log"),
        ):
            pass
    assert (mode(profile), mode(files(profile))) == (0o700, 0o700)
    assert "signed_in=ada" in kept(site, profile, tmp_path / "second.log")


@pytest.fixture
def profile() -> Iterator[Path]:
    """A profile in a folder that all users may enter, as those of pytest are not."""
    with short_folder() as folder:
        folder.chmod(0o711)
        yield folder / "work"


def test_without_namespaces_a_link_leads_to_the_profile(
    site: Site, profile: Path, tmp_path: Path
) -> None:
    arguments = ("desktop", "--profile", str(profile))
    off = {"DESKHAND_NAMESPACES": "off"}
    with service(tmp_path / "first.log", *arguments, environment=off) as first:
        visit(first, f"{site.url}/login", "signed in")
        assert mode(profile) == 0o711
        place = folder_of(first) / "browser"
        assert place.readlink() == files(profile)
    assert (mode(profile), mode(files(profile))) == (0o700, 0o700)
    before = len(site.cookies)
    with service(tmp_path / "second.log", *arguments, environment=off) as second:
        visit(second, f"{site.url}/page", "seen")
    assert "signed_in=ada" in " ".join(site.cookies[before:])


def committed(cookies: Path) -> bool:
    """Return whether the sign-in is in the database, which would go back to its journal."""
    if b"signed_in" not in cookies.read_bytes():
        return False
    with suppress(FileNotFoundError):
        return not cookies.with_name("Cookies-journal").read_bytes().startswith(HOT_JOURNAL)
    return True


def test_a_killed_desktop_leaves_its_profile(site: Site, tmp_path: Path) -> None:
    profile = tmp_path / "work"
    with (
        suppress(AssertionError, ProcessLookupError),
        desktop_with(profile, tmp_path / "first.log") as first,
    ):
        visit(first, f"{site.url}/login", "signed in")
        until(lambda: committed(files(profile) / "Default" / "Cookies"), "the cookie on the disk")
        browser = browser_of(first)
        os.kill(first.ready["pid"], signal.SIGKILL)
        browser.wait(PATIENCE)
    assert "signed_in=ada" in kept(site, profile, tmp_path / "second.log")


def is_own_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def test_links_in_a_profile_lead_nowhere(tmp_path: Path) -> None:
    profile, outside = tmp_path / "work", tmp_path / "outside"
    inside = files(profile) / "Default"
    inside.mkdir(parents=True)
    outside.mkdir()
    target = outside / "secret"
    target.write_text("of root")
    (inside / "Preferences").symlink_to(target)
    (inside / "folder").symlink_to(outside)
    os.link(target, inside / "hard")
    os.mkfifo(inside / "fifo")
    (inside / "own").write_text("1")
    with desktop_with(profile, tmp_path / "errors.log") as desktop:
        desktop.post("/api/v0/desktop/launch", {"name": "browser", "args": ["about:blank"]})
        # The link leads to a file until the service has removed it; the browser writes a new one.
        until(lambda: is_own_file(inside / "Preferences"), "the preferences of the browser")
        assert (inside / "own").stat().st_uid == browser_of(desktop).uids().real
        assert not any(os.path.lexists(inside / name) for name in ("folder", "hard", "fifo"))
    assert (target.stat().st_uid, target.read_text()) == (0, "of root")
    assert outside.stat().st_uid == 0
