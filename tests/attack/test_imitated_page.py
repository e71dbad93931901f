"""A program that is not the browser imitates a page with a focused field, to be given a secret."""

import io
import shlex
import ssl
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from queue import Queue

import jeepney
import pytest

from tests.attack.test_secrets import BANK, FIELD, VALUE, browse, field_focused, output
from tests.system.reporting_page import PageHandler, serving
from tests.system.services import PATIENCE, Json, Service, tidy, until

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

GRABBER = Path(__file__).parents[1] / "data" / "grabber.py"
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


SCRIPT = """const field = document.querySelector("input");
field.oninput = () => fetch("/typed", {method: "POST", body: field.value});"""
PAGE = f"<!doctype html><title>Bank</title>{FIELD}<script>{SCRIPT}</script>".encode()


class Bank(PageHandler):
    """The page of the bank, which reports what is typed."""

    typed: Queue[str]

    def do_GET(self) -> None:
        self.answer(PAGE)

    def do_POST(self) -> None:
        self.typed.put(self.body())
        self.answer(b"")


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[int]:
    """Serve the bank's page with a certificate that no browser trusts; yield the port."""
    Bank.typed = Queue()
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={BANK}"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ThreadingHTTPServer(("127.0.0.1", 0), Bank) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.slow("a browser that starts")
def test_a_browser_that_the_agent_starts_is_not_given_the_secret_of_a_host(
    desktop: Service, bank: int
) -> None:
    url = f"https://{BANK}:{bank}/"
    # The desktop's browser takes no switches that would make it trust such a certificate.
    refused = output(desktop, f"browser --ignore-certificate-errors {url}")
    assert "not started with --ignore-certificate-errors" in refused
    command = (
        "exec chromium --user-data-dir=$HOME/own --no-first-run --ignore-certificate-errors"
        f" --force-renderer-accessibility {url} > /dev/null 2>&1"
    )
    desktop.post("/api/v0/processes/start", {"command": command, "background": True})
    until(lambda: field_focused(desktop), "the focus in the field")
    status, body = type_value(desktop, hosts=[BANK])
    assert (status, body["code"]) == (409, "foreign_host")
    assert BANK in body["detail"]
    assert Bank.typed.empty()
    # The control: the keys that an agent types go to this page.
    desktop.act(action="type", text="control")
    assert Bank.typed.get(timeout=PATIENCE)


@pytest.mark.slow("a browser that starts")
def test_a_program_that_has_grabbed_the_keyboard_is_not_given_a_secret(desktop: Service) -> None:
    work = Path(desktop.post("/api/v0/processes/start", {"command": "pwd"})["workdir"])
    program, notes = work / "grabber.py", work / "grabbed"
    content = GRABBER.read_bytes()
    desktop.http.post("/api/v0/write-file", params={"path": str(program)}, content=content)
    Bank.typed = Queue()
    with serving(Bank) as port:
        browse(desktop, f"http://127.0.0.1:{port}/")
        body = {"command": f"exec python3 {program} {notes}", "background": True}
        desktop.post("/api/v0/processes/start", body)
        until(lambda: notes.exists() and "grabbed" in notes.read_text(), "the grab")
        # The control: it gets the keys of a text that is not protected.
        desktop.act(action="type", text="control")
        until(lambda: notes.read_text().count("key") == len("control"), "the keys of the control")
        # A line break is a key.
        status, refused = type_value(desktop, text=f"{VALUE}\n")
        assert (status, refused["code"]) == (409, "keyboard_grabbed")
        # Without keys there is nothing to grab.
        assert type_value(desktop)[0] == 200
        while Bank.typed.get(timeout=PATIENCE) != VALUE:
            pass
    assert notes.read_text().count("key") == len("control")
