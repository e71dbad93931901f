import json
import os
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from deskhand.desktop.isolation.process_identity import boot_id, start_time
from deskhand.tools.fleet.registry import (
    BEFORE_PROTECTIONS,
    DesktopRegistry,
    RegisteredDesktop,
    is_alive,
)


def entry(pid: int) -> RegisteredDesktop:
    return RegisteredDesktop(
        id="ab12",
        name="a desktop",
        chat_id=None,
        pid=pid,
        start_time=start_time(pid) or 0,
        boot_id=boot_id(),
        address="unix:/x/api.sock",
        token_file="/x/ab12.token",
        folder="/x",
        created_at=1.5,
    )


@pytest.fixture
def entries(tmp_path: Path) -> DesktopRegistry:
    found = DesktopRegistry(tmp_path / "desktops")
    found.prepare()
    return found


def test_an_entry_is_read_back_as_it_was_written(entries: DesktopRegistry) -> None:
    mine = entry(os.getpid())
    entries.save(mine)
    assert list(entries.all()) == [mine]


def test_a_desktop_of_a_version_without_protections_lacks_all(
    entries: DesktopRegistry, tmp_path: Path
) -> None:
    entries.save(entry(os.getpid()))
    (file,) = (tmp_path / "desktops").iterdir()
    fields = json.loads(file.read_text())
    for name in ("missing_protections", "egress", "has_display", "browser_warning"):
        del fields[name]
    file.write_text(json.dumps(fields))
    (found,) = entries.all()
    assert found == replace(entry(os.getpid()), missing_protections=(BEFORE_PROTECTIONS,))


def test_fields_of_another_version_are_passed_over(
    entries: DesktopRegistry, tmp_path: Path
) -> None:
    entries.save(entry(os.getpid()))
    (file,) = (tmp_path / "desktops").iterdir()
    file.write_text(json.dumps({**json.loads(file.read_text()), "later": 1}))
    assert list(entries.all()) == [entry(os.getpid())]


def test_entries_and_tokens_are_readable_by_their_owner_only(
    entries: DesktopRegistry, tmp_path: Path
) -> None:
    entries.save(entry(os.getpid()))
    entries.write_token("ab12", "secret")
    for path in (tmp_path / "desktops").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_entry_is_removed_with_its_token_and_removing_twice_is_no_error(
    entries: DesktopRegistry, tmp_path: Path
) -> None:
    entries.save(entry(os.getpid()))
    entries.write_token("ab12", "secret")
    entries.remove("ab12")
    entries.remove("ab12")
    assert not list((tmp_path / "desktops").iterdir())


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": "ab12"}', "null"])
def test_a_broken_entry_is_removed(entries: DesktopRegistry, tmp_path: Path, text: str) -> None:
    (tmp_path / "desktops" / "ab12.json").write_text(text)
    assert list(entries.all()) == []
    assert not list((tmp_path / "desktops").iterdir())


def test_a_process_is_identified_by_its_start_and_its_boot() -> None:
    mine = entry(os.getpid())
    assert is_alive(mine)
    assert not is_alive(replace(mine, start_time=mine.start_time + 1))
    assert not is_alive(replace(mine, boot_id="another boot"))


def test_an_ended_process_is_not_alive_even_before_it_is_reaped() -> None:
    with subprocess.Popen(["sh", "-c", "read line"], stdin=subprocess.PIPE) as child:
        started = entry(child.pid)
        assert is_alive(started)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(started)
    assert start_time(child.pid) is None
