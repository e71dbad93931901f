from deskhand.tools.conversation.tool_call_counts import ToolCallCounts


def test_calls_are_counted_by_tool_and_status() -> None:
    counts = ToolCallCounts()
    for status in ("done", "failed", "done"):
        counts.add("execute", status)
    assert dict(counts.items()) == {("execute", "done"): 2, ("execute", "failed"): 1}


def test_names_that_a_model_invents_are_one_series() -> None:
    counts = ToolCallCounts()
    for name in ("fly", "swim"):
        counts.add(name, "failed", known=False)
    assert dict(counts.items()) == {("unknown", "failed"): 2}
