from deskhand.desktop.fields import Field, Fields, any_text
from deskhand.desktop.mcp.tool import McpTool


def test_a_tool_has_a_flat_schema_and_all_annotations() -> None:
    tool = McpTool(
        *("shell", "run", "Run", "Runs."),
        Fields({"a": Field({"type": "string"}, any_text)}, ("a",)),
        {"b": {}},
        read_only=True,
    )
    assert tool.to_json() == {
        "name": "run",
        "title": "Run",
        "description": "Runs.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "required": ["a"],
        },
        "outputSchema": {"type": "object", "properties": {"b": {}}},
        "annotations": {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": False,
            "openWorldHint": False,
        },
    }


def test_a_tool_without_required_arguments_names_none() -> None:
    tool = McpTool("shell", "list", "List", "Lists.", Fields({}), {})
    assert "required" not in tool.to_json()["inputSchema"]
