"""An agent loop over Anthropic's computer toolset, for which Deskhand is only the computer."""

import asyncio
import base64
import os
import sys
from typing import Any

from anthropic import AsyncAnthropic

from deskhand import AsyncDesktop, DesktopRefused

TOOLSET: Any = {"type": "computer_toolset_20260801"}
USAGE = "usage: ANTHROPIC_API_KEY=... python examples/anthropic_loop.py TASK [MODEL]"
READS = ("screenshot", "zoom", "cursor_position")


async def result_of(desktop: AsyncDesktop, call: Any) -> dict[str, Any]:
    """Perform one call; its names and fields are those of Deskhand's actions."""
    result = {"type": "tool_result", "tool_use_id": call.id, "toolset_name": call.toolset_name}
    name, fields = call.name, dict(call.input)
    if name == "key":
        fields["text"] = " ".join([fields["text"]] * fields.pop("repeat", 1))
    if "coordinate" not in fields and ("click" in name or name == "scroll"):
        fields["coordinate"] = list(await desktop.cursor())
    try:
        done = await desktop.act(name, name not in READS, **fields)
    except DesktopRefused as error:
        return {**result, "is_error": True, "content": str(error)}
    content: list[dict[str, Any]] = [{"type": "text", "text": done.output}]
    if (seen := done.picture) is not None:
        source = {"type": "base64", "media_type": f"image/{seen.format}"}
        data = base64.b64encode(seen.data).decode()
        content.append({"type": "image", "source": {**source, "data": data}})
    return {**result, "content": content}


async def main(task: str, model: str = "claude-opus-5-5") -> str:
    """Work on the task until the model makes no more calls; return its last text."""
    messages: list[Any] = [{"role": "user", "content": task}]
    options: Any = {"model": model, "max_tokens": 4096, "tools": [TOOLSET], "messages": messages}
    async with AsyncAnthropic() as client, AsyncDesktop.launch() as desktop:
        for _ in range(50):
            reply = await client.messages.create(**options)
            messages.append({"role": "assistant", "content": reply.content})
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                return "".join(block.text for block in reply.content if block.type == "text")
            results = [await result_of(desktop, call) for call in calls]
            messages.append({"role": "user", "content": results})
    return "The model took too many turns."


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not os.environ.get("ANTHROPIC_API_KEY"):
        sys.exit(USAGE)
    sys.stdout.write(asyncio.run(main(*sys.argv[1:])) + "\n")
