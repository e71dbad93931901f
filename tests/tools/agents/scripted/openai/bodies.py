"""Requests of the Responses protocol."""

from typing import Any

Json = dict[str, Any]

GO: Json = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]}
PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg=="
)
REASONING: Json = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}
FUNCTION: Json = {"type": "function_call", "call_id": "f", "name": "execute", "arguments": "{}"}
FUNCTION_OUTPUT: Json = {"type": "function_call_output", "call_id": "f", "output": "ok"}
COMPUTER: Json = {"type": "computer_call", "call_id": "c", "actions": [{"type": "wait"}]}
SHOT: Json = {"type": "computer_screenshot", "image_url": PICTURE}
COMPUTER_OUTPUT: Json = {"type": "computer_call_output", "call_id": "c", "output": SHOT}
SAID: Json = {"type": "message", "role": "assistant"}
SAID["content"] = [{"type": "output_text", "text": "Hi.", "annotations": []}]
TOOLS: list[Json] = [
    {"type": "computer"},
    {"type": "function", "name": "execute", "parameters": {"type": "object"}},
]


def body(*items: Json, **more: Any) -> Json:
    """Return a request with these items."""
    return {"model": "m", "store": False, "tools": TOOLS, "input": list(items or (GO,)), **more}
