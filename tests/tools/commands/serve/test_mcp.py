from pathlib import Path
from typing import Any

import pytest

from deskhand.tools.commands.serve.mcp import USAGE, main, selected_tools

OPTIONS: dict[str, Any] = {
    "desktop": "own",
    "tools": None,
    "read_only": False,
    "pictures": "changed",
}


def test_the_options_select_the_tools() -> None:
    assert "computer" in selected_tools(OPTIONS).groups
    chosen = selected_tools({**OPTIONS, "tools": "files", "read_only": True, "pictures": "off"})
    assert (chosen.groups, chosen.read_only, chosen.pictures) == (("files",), True, "off")


def test_without_a_desktop_only_agents_are_left() -> None:
    assert selected_tools({**OPTIONS, "desktop": "none"}).groups == ("agents",)


@pytest.mark.parametrize("host", ["claude-code", "codex", "cursor", "vscode", "gemini"])
def test_the_settings_of_a_host_are_printed_with_the_options(
    host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {**OPTIONS, "desktop": "d1", "tools": "shell", "read_only": True, "pictures": "on"}
    assert main(options, host, None, None) == 0
    printed = capsys.readouterr().out.replace('"', "").replace(",", "").split()
    given = ["mcp", "--desktop", "d1", "--tools", "shell", "--read-only", "--pictures", "on"]
    assert " ".join(given) in " ".join(printed)
    assert "deskhand" in " ".join(printed)


@pytest.mark.parametrize(
    ("options", "host", "error"),
    [
        ({**OPTIONS, "tools": "nonsense"}, None, "the groups of tools are"),
        (OPTIONS, "emacs", "there are claude-code, codex, cursor, vscode, gemini"),
    ],
)
def test_wrong_options_are_refused(
    options: dict[str, Any], host: str | None, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(options, host, None, Path("data")) == USAGE
    assert error in capsys.readouterr().err
