"""Names of servers and tools."""

import pytest

from deskhand.desktop.mcp_client.errors import BadToolName
from deskhand.desktop.mcp_client.tool_names import name_problem, split_name, tool_name


@pytest.mark.parametrize(("server", "tool"), [("a", "b"), ("a", "b__c"), ("a-1", "_x"), ("a", "_")])
def test_a_name_is_split_at_the_first_separator(server: str, tool: str) -> None:
    assert split_name(tool_name(server, tool)) == (server, tool)


@pytest.mark.parametrize("name", ["", "a", "a_b", "__b", "a__"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(BadToolName, match="is not of the form server__tool"):
        split_name(name)


@pytest.mark.parametrize("name", ["", "a" * 65, "a__b", "_a", "a_", "a/b", "é"])
def test_names_that_a_server_cannot_have(name: str) -> None:
    assert name_problem(name)


@pytest.mark.parametrize("name", ["a", "a" * 64, "a_b", "A-1.2 c"])
def test_names_that_a_server_can_have(name: str) -> None:
    assert name_problem(name) == ""
