from pathlib import Path

import pytest

from deskhand.recording.errors import RecordingFailed
from deskhand.tools.commands.diagnosis.trials import (
    browser_finding,
    encode_second,
    encoder_finding,
    x_server_finding,
)


def program(folder: Path, text: str) -> str:
    file = folder / "program"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o700)
    return str(file)


@pytest.mark.parametrize("text", ["exit 1", "exec sleep 0"])
def test_an_x_server_that_does_not_start_is_broken(tmp_path: Path, text: str) -> None:
    found = x_server_finding(program(tmp_path, text))
    assert (found.status, found.remedy) == ("fail", "apt-get install tigervnc-standalone-server")


def test_a_missing_x_server_is_broken(tmp_path: Path) -> None:
    found = x_server_finding(str(tmp_path / "none"))
    assert (found.status, found.detail) == ("fail", "No such file or directory")


def test_an_x_server_that_names_its_display_works(tmp_path: Path) -> None:
    # $2 is the descriptor of -displayfd.
    found = x_server_finding(program(tmp_path, "echo 7 >/proc/self/fd/$2; exec sleep 60"))
    assert found.status == "ok"


@pytest.mark.parametrize("text", ["exit 1", "echo '<p>else'"])
def test_a_browser_that_shows_no_page_is_a_warning(tmp_path: Path, text: str) -> None:
    found = browser_finding(program(tmp_path, text))
    assert (found.status, found.remedy) == ("warn", "apt-get install chromium")
    assert "does not show" in found.detail


def test_a_missing_browser_is_a_warning(tmp_path: Path) -> None:
    assert "does not start" in browser_finding(str(tmp_path / "none")).detail


def test_a_browser_that_shows_the_page_works(tmp_path: Path) -> None:
    found = browser_finding(program(tmp_path, "echo '<p>deskhand-works</p>'"))
    assert found.status == "ok"


def test_an_encoder_that_fails_is_broken() -> None:
    def failing() -> None:
        raise RecordingFailed("no libx264")

    found = encoder_finding(failing)
    assert found.status == "fail"
    assert "no libx264" in found.detail


def test_the_encoder_of_this_machine_works() -> None:
    assert encoder_finding(encode_second).status != "fail"
