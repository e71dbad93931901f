import pytest

from deskhand.desktop.dialects.cua.commands import COMMANDS, check_names, listing, resolved
from deskhand.desktop.dialects.cua.errors import FailedCommand, RefusedCommand


def test_names_and_aliases_are_resolved() -> None:
    assert resolved("left_click") == "left_click"
    assert {alias: resolved(alias) for alias in ("tap", "shell", "ls", "rm", "type")} == {
        "tap": "left_click",
        "shell": "run_command",
        "ls": "list_dir",
        "rm": "delete_file",
        "type": "type_text",
    }


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("left_clik", "Unknown command: left_clik. Did you mean: left_click"),
        ("zzzzzz", "Unknown command: zzzzzz$"),
        ("diorama_cmd", "Not served: diorama_cmd"),
    ],
)
def test_other_names_are_refused(name: str, sentence: str) -> None:
    with pytest.raises(RefusedCommand, match=sentence):
        resolved(name)


def test_the_commands_are_listed_with_their_parameters() -> None:
    listed = listing()
    assert listed["commands"].keys() == COMMANDS.keys()
    assert listed["commands"]["run_command"] == {
        "params": [
            {"name": "command", "required": True, "default": None},
            {"name": "timeout", "required": False, "default": None},
        ],
        "aliases": ["shell", "exec"],
    }
    assert listed["commands"]["version"] == {"params": []}
    assert listed["aliases"]["mkdir"] == "create_dir"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_its_own_parameters_only(name: str) -> None:
    row = COMMANDS[name]
    known = (*row.required, *(row.optional or {}))
    check_names(name, dict.fromkeys(known, 1))
    check_names(name, {**dict.fromkeys(known), "zz_unknown": None})
    for wrong in ("zz_unknown", *(f"{one}_" for one in known)):
        with pytest.raises(FailedCommand, match=f"unknown argument {wrong}"):
            check_names(name, {**dict.fromkeys(known, 1), wrong: 1})


def test_the_nearest_parameter_is_suggested() -> None:
    with pytest.raises(FailedCommand, match="contents: did you mean content"):
        check_names("write_text", {"path": "/a", "contents": "x"})
