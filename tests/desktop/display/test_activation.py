"""Services that a message bus activates; their programs are played by a list."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from queue import Queue

from deskhand.desktop.display.activation import ASKED, Activations, machine_services
from deskhand.desktop.display.session_files import SESSION_SERVICES

PATIENCE = 60


def entry(name: str, line: str) -> str:
    return f"[D-BUS Service]\nName={name}\nExec={line}\nSystemdService=x.service\n"


def test_services_of_the_machine_are_read_and_its_first_folder_counts(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, name, text in (
        (first, "one", entry("org.one", "/bin/one 'a b'")),
        (second, "one", entry("org.one", "/bin/other")),
        (second, "own", entry("org.a11y.Bus", "/bin/launcher")),
        (second, "none", entry("org.none", "/bin/false")),
        (second, "name", entry("org.x; touch /loot", "/bin/name")),
        (second, "line", entry("org.line", "'")),
        (second, "empty", entry("org.empty", "")),
        (second, "broken", "Name=org.broken\n"),
        (second, "bare", "[D-BUS Service]\nName=org.bare\n"),
    ):
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.service").write_text(text)
    found = machine_services([first, second, tmp_path / "missing"])
    assert found == {"org.one": ("/bin/one", "a b")}


def test_a_service_that_the_bus_asks_for_is_started(tmp_path: Path) -> None:
    (tmp_path / ASKED).parent.mkdir(parents=True)
    started: Queue[Sequence[str]] = Queue()
    services = {"org.one": ("/bin/one", "a b"), "org.two": ("/bin/two",)}
    # A display that restarts has new ones.
    for _ in range(2):
        activations = Activations(tmp_path, started.put, services)
        activations.open()
        (tmp_path / ASKED).write_text("org.unknown\n")
        for name, words in services.items():
            written = (tmp_path / SESSION_SERVICES / f"{name}.service").read_text()
            line = written.partition("Exec=")[2]
            subprocess.run(line, shell=True, check=True)
            assert started.get(timeout=PATIENCE) == words
        activations.close()
        activations.close()
        assert started.empty()
