import pytest

from deskhand.desktop.mcp.errors import BadMcpOption
from deskhand.desktop.mcp.selection import ToolSelection, groups_of, pictures_of, selection_of
from deskhand.desktop.mcp.tool import GROUPS
from deskhand.desktop.mcp.tool_table import DESKTOP_TOOLS


def test_groups_are_a_list_and_recording_belongs_to_the_computer() -> None:
    assert groups_of(" files,computer ") == ("computer", "files", "record")
    assert groups_of("shell") == ("shell",)


@pytest.mark.parametrize("text", ["", " , ", "record", "shell,nonsense"])
def test_a_group_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(BadMcpOption, match="the groups of tools are computer, shell, files"):
        groups_of(text)


def test_read_only_leaves_out_all_that_changes_anything() -> None:
    offered = ToolSelection(read_only=True).offered(DESKTOP_TOOLS)
    assert {tool.name for tool in offered} == {
        *("computer_look", "computer_find", "process_output", "process_list"),
        *("read_file", "search_files"),
    }


def test_only_chosen_groups_are_offered() -> None:
    offered = ToolSelection(groups=("shell",)).offered(DESKTOP_TOOLS)
    assert {tool.group for tool in offered} == {"shell"}


def test_the_query_has_the_options() -> None:
    assert selection_of({}) == ToolSelection(GROUPS, False, "changed")
    query = {"tools": "shell", "read_only": "TRUE", "pictures": "off"}
    assert selection_of(query) == ToolSelection(("shell",), True, "off")
    assert not selection_of({"read_only": "no"}).read_only


def test_pictures_have_three_settings() -> None:
    assert pictures_of("on") == "on"
    with pytest.raises(BadMcpOption, match="on, changed, off, not 'sometimes'"):
        pictures_of("sometimes")
