"""An agent loop over Anthropic's computer toolset, for which Deskhand is only the computer.

Usage: ANTHROPIC_API_KEY=... python examples/anthropic_loop.py "open a terminal" [MODEL]
"""

import asyncio
import base64
import sys
from typing import Any

from anthropic import AsyncAnthropic

from deskhand import AsyncDesktop, DesktopRefused, Done

TOOLSET: Any = {"type": "computer_toolset_20260801"}
MOST_TURNS = 50
CLICKS = ("left_click", "right_click", "middle_click", "double_click", "triple_click", "scroll")


async def perform(desktop: AsyncDesktop, name: str, arguments: dict[str, Any]) -> Done:
    """Perform one call of the model, whose names and fields are those of Deskhand's actions."""
    fields = dict(arguments)
    if name == "key":
        fields["text"] = " ".join([fields["text"]] * fields.pop("repeat", 1))
    if name in CLICKS and "coordinate" not in fields:
        fields["coordinate"] = list(await desktop.cursor())
    observes_only = name in ("screenshot", "zoom", "cursor_position")
    return await desktop.act(name, not observes_only, **fields)


async def result_of(desktop: AsyncDesktop, call: Any) -> dict[str, Any]:
    """Return the result of one call: a text, and a picture of the settled screen."""
    result = {"type": "tool_result", "tool_use_id": call.id, "toolset_name": call.toolset_name}
    try:
        done = await perform(desktop, call.name, call.input)
    except DesktopRefused as error:
        return {**result, "is_error": True, "content": [{"type": "text", "text": str(error)}]}
    content: list[dict[str, Any]] = [{"type": "text", "text": done.output}]
    if done.picture is not None:
        data = base64.b64encode(done.picture.data).decode()
        source = {"type": "base64", "media_type": f"image/{done.picture.format}", "data": data}
        content.append({"type": "image", "source": source})
    return {**result, "content": content}


async def main(task: str, model: str) -> str:
    """Work on the task until the model makes no more calls; return its last text."""
    messages: list[Any] = [{"role": "user", "content": task}]
    async with AsyncAnthropic() as client, AsyncDesktop.launch() as desktop:
        for _ in range(MOST_TURNS):
            reply = await client.messages.create(
                model=model, max_tokens=4096, tools=[TOOLSET], messages=messages
            )
            messages.append({"role": "assistant", "content": reply.content})
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                return "".join(block.text for block in reply.content if block.type == "text")
            results = [await result_of(desktop, call) for call in calls]
            messages.append({"role": "user", "content": results})
    return "The model took too many turns."


if __name__ == "__main__":
    chosen = sys.argv[2] if len(sys.argv) > 2 else "claude-opus-5-5"
    sys.stdout.write(asyncio.run(main(sys.argv[1], chosen)) + "\n")
