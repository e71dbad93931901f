from deskhand.desktop.tool_calls.schema import CALL_HEADERS


def test_clients_may_send_the_headers_and_learn_what_the_instance_protects() -> None:
    described = {header["name"]: header["description"] for header in CALL_HEADERS}
    names = ("Chat-Id", "Tool-Call-Id", "Generation", "Instance")
    assert list(described) == [f"Deskhand-{name}" for name in names]
    assert {(header["in"], header["required"]) for header in CALL_HEADERS} == {("header", False)}
    assert "outcome_unknown" in described["Deskhand-Instance"]
