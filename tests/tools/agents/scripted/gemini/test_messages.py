from deskhand.tools.agents.scripted.gemini.messages import canonical


def test_contents_become_messages_of_alternating_roles() -> None:
    picture = {"mimeType": "image/png", "data": "QQ=="}
    answer = {"name": "click", "response": {"output": "Done."}, "parts": [{"inlineData": picture}]}
    image = {"type": "image", "source": picture}
    assert canonical(
        [
            {"role": "user", "parts": [{"text": "Go."}, {"inlineData": picture}]},
            {
                "role": "model",
                "parts": [
                    {"text": "Hm.", "thought": True},
                    {"text": "I click."},
                    {"functionCall": {"id": "a", "name": "click"}},
                ],
            },
            {"role": "user", "parts": [{"functionResponse": {"id": "a", **answer}}]},
            {"role": "user", "parts": [{"text": "And?"}]},
        ]
    ) == (
        {"role": "user", "content": [{"type": "text", "text": "Go."}, image]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "text": "Hm."},
                {"type": "text", "text": "I click."},
                {"type": "tool_use", "id": "a", "name": "click", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "content": [{"type": "text", "text": "Done."}, image],
                    "is_error": False,
                },
                {"type": "text", "text": "And?"},
            ],
        },
    )


def test_an_error_may_have_several_texts() -> None:
    failed = {"name": "a", "response": {"error": ["One.", "Two."]}}
    (message,) = canonical([{"role": "user", "parts": [{"functionResponse": failed}]}])
    (result,) = message["content"]
    assert result["is_error"]
    assert [block["text"] for block in result["content"]] == ["One.", "Two."]


def test_a_response_may_be_empty() -> None:
    empty = {"name": "a", "response": {}}
    (message,) = canonical([{"role": "user", "parts": [{"functionResponse": empty}]}])
    assert message["content"][0]["content"] == []
