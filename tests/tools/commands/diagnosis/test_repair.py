from collections.abc import Sequence

import pytest

from deskhand.tools.commands.diagnosis.finding import Finding
from deskhand.tools.commands.diagnosis.repair import commands, install, packages

FINDINGS = (
    Finding("Xvnc", "fail", "not installed", "apt-get install tigervnc-standalone-server"),
    Finding("xterm", "ok", "/usr/bin/xterm"),
    Finding("tint2", "warn", "not installed", "apt-get install tint2"),
    Finding("X server", "fail", "no display", "apt-get install tigervnc-standalone-server"),
    Finding("egress", "fail", "nft is not installed (apt-get install nftables)", "install it"),
    Finding("model", "warn", "no key", "set a key"),
)


def test_packages_that_are_missing_are_named_once() -> None:
    assert packages(FINDINGS) == [
        "tigervnc-standalone-server",
        "tint2",
        "nftables",
    ]


def test_only_root_needs_no_password() -> None:
    assert [command[0] for command in commands(["a"], root=True)] == ["apt-get", "apt-get"]
    assert [command[0] for command in commands(["a"], root=False)] == ["sudo", "sudo"]


@pytest.mark.parametrize(
    ("failing", "problem"), [("", ""), ("update", ""), ("install", "ended with 100")]
)
def test_a_failed_installation_is_reported(failing: str, problem: str) -> None:
    ran = []

    def run(command: Sequence[str]) -> int:
        ran.append(command)
        return 100 if failing in command else 0

    found = install(["tint2"], run)
    assert problem in found
    assert bool(problem) == bool(found)
    assert ran[-1][-1] == "tint2"


def test_a_machine_without_the_program_is_reported() -> None:
    def run(command: Sequence[str]) -> int:
        raise FileNotFoundError(2, "No such file or directory")

    assert "No such file" in install(["tint2"], run)
