import json
import os
import signal
import subprocess
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deskhand.desktop.dialects.osworld.agent_program import (
    PRINT_SCREEN,
    PRINTED,
    public,
    run,
    terminal_text,
)
from tests.system.services import until
from tests.vncbridge.fakes import short_folder


@pytest.mark.parametrize(
    ("addresses", "good"),
    [
        (["93.184.216.34"], True),
        (["2606:2800:220:1::1"], True),
        ([], False),
        (["127.0.0.1"], False),
        (["93.184.216.34", "10.0.0.1"], False),
        (["169.254.169.254"], False),
        (["100.64.0.1"], False),
        (["0.0.0.0"], False),
        (["224.0.0.1"], False),
        (["::1"], False),
        (["fe80::1%eth0"], False),
        (["fd00::1"], False),
        (["::ffff:127.0.0.1"], False),
        (["168.63.129.16"], False),
        (["64:ff9b::7f00:1"], False),
    ],
)
def test_only_addresses_of_the_internet_are_public(addresses: list[str], good: bool) -> None:
    assert public(addresses) is good


def test_paths_and_trees_are_those_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as home:
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("NAME", "notes")
        assert run(["path", "~/a b"]) == f"{home}/a b"
        assert run(["path", "$NAME/x"]) == f"{home}/notes/x"
        assert run(["path", "/etc/hosts"]) == "/etc/hosts"
        assert run(["desktop"]) == f"{home}/Desktop"
        Path(home, "Desktop", "inner").mkdir()
        Path(home, "Desktop", "inner", "file").touch()
        Path(home, "Desktop", "link").symlink_to("/")
        tree = json.loads(run(["tree", "~/Desktop"]))
        inner = {"type": "directory", "name": "inner"}
        assert tree["children"] == [
            {**inner, "children": [{"type": "file", "name": "file"}]},
            {"type": "file", "name": "link"},
        ]
        with pytest.raises(OSError, match="not a directory"):
            run(["tree", "~/none"])


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/x",
        "http://[::1]:9/x",
        "http://localhost:9/x",
        "https://127.0.0.1:9/x",
        "http://2130706433:9/x",
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
    ],
)
@pytest.mark.parametrize("proxy", ["", "http://127.0.0.1:9"])
def test_private_addresses_are_not_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, proxy: str
) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    if proxy:
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(OSError, match=r"private address|only http"):
        run(["download", url, str(tmp_path / "x")])
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_command_line_is_refused() -> None:
    with pytest.raises(OSError, match="wrong arguments"):
        run(["other"])


@contextmanager
def terminal(prints: Path | None) -> Iterator[int]:
    """Yield the pid of a process whose child has a terminal, which prints its text if asked to."""
    screen, device = os.openpty()
    tty.setraw(device)
    # The shell stays, because a command follows.
    started = subprocess.Popen(
        ["sh", "-c", "echo ready; sleep 600; :"],
        stdin=device,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )

    def display() -> None:
        asked = b""
        while not asked.endswith(PRINT_SCREEN):
            asked += os.read(screen, 1)
        if prints is not None:
            part = prints.with_name("part")
            part.write_text("$ echo hi  \nhi\n\n\n")
            part.rename(prints)

    displaying = threading.Thread(target=display)
    displaying.start()
    try:
        assert started.stdout is not None
        assert started.stdout.readline() == b"ready\n"
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
        until(lambda: children.read_text(), "the child")
        yield started.pid
        os.write(device, PRINT_SCREEN)
        displaying.join()
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
        os.close(device)
        os.close(screen)


def test_a_terminal_prints_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        with terminal(folder / PRINTED) as pid:
            assert run(["terminal", str(pid)]) == "$ echo hi\nhi"
        with terminal(None) as pid:
            assert terminal_text(pid, 0.0) == ""


def test_a_process_without_a_terminal_has_no_text() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as alone:
        assert terminal_text(alone.pid) == ""
        alone.communicate()
