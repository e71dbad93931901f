from deskhand.tools.kit.support.refused_tools import (
    EXECUTE,
    is_looking,
    is_planned,
    program_refusal,
    refused_tools,
)


def test_a_chat_that_explores_writes_nothing() -> None:
    assert "write_file" in refused_tools("explore", without_execute=False)
    assert EXECUTE not in refused_tools("explore", without_execute=False)


def test_a_chat_without_execute_runs_and_controls_no_programs() -> None:
    assert refused_tools("computer_use", without_execute=False) == frozenset()
    refused = refused_tools("computer_use", without_execute=True)
    programs = {"execute", "process_list", "process_output", "process_signal"}
    # Their servers are programs.
    servers = {"list_mcp_tools", "call_mcp_tool", "approve_mcp_server"}
    assert refused == programs | servers
    assert refused_tools("explore", without_execute=True) > refused


def test_only_a_chat_that_works_on_a_screen_reads_it_as_text() -> None:
    assert "read_screen" not in refused_tools("computer_use", without_execute=True)
    assert "read_screen" in refused_tools("general", without_execute=False)


def test_a_call_of_a_chat_without_execute_is_refused_by_name() -> None:
    assert program_refusal(EXECUTE, without_execute=False) == ""
    assert program_refusal("read_file", without_execute=True) == ""
    assert "no tool execute" in program_refusal(EXECUTE, without_execute=True)


def test_looking_is_no_input_and_changes_nothing() -> None:
    looks = [("screenshot", "computer"), ("zoom", "computer"), ("read_file", None)]
    acts = [("left_click", "computer"), ("mouse_move", "computer"), ("execute", None)]
    assert all(is_looking(*call) and is_planned(*call) for call in looks)
    assert not any(is_looking(*call) or is_planned(*call) for call in acts)
    assert not is_looking("read_file", "computer")


def test_a_chat_that_only_looks_has_subagents_and_starts_no_servers() -> None:
    assert {"execute", "type_secret"} < refused_tools(
        "general", without_execute=False, look_only=True
    )
    assert is_planned("spawn_agent", None)
    assert not is_looking("spawn_agent", None)
    assert is_looking("approve_mcp_server", None)
    assert not is_planned("approve_mcp_server", None)
