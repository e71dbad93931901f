"""What `deskhand run --output DIR` leaves in a folder: result, report, steps, video and picture."""

import asyncio
import json
from pathlib import Path
from typing import Any

from deskhand.desktop.client.http import DesktopClient

Json = dict[str, Any]
SUFFIXES = {"video/mp4": ".mp4", "image/webp": ".webp", "image/jpeg": ".jpg", "image/png": ".png"}


async def save(client: DesktopClient, result: Json, folder: Path) -> list[str]:
    """Write the result of a run into a folder; return the names of the files.

    Raises:
        OSError: If the folder cannot be written.
    """
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    names = ["result.json"]
    await _write(folder / names[0], json.dumps(result, indent=2) + "\n")
    chat_id = result.get("chat_id")
    if not chat_id:
        return names
    run = await client.request("GET", f"/api/v0/runs/{chat_id}")
    chat = run["chat"]
    if chat.get("report"):
        names.append("report.md")
        await _write(folder / "report.md", chat["report"].rstrip("\n") + "\n")
    names.append("steps.jsonl")
    await _write(folder / "steps.jsonl", "".join(f"{json.dumps(s)}\n" for s in chat["steps"]))
    for name, file_id in _files(run):
        names.append(name)
        await client.download(f"/api/v0/files/{file_id}", folder / name)
    return names


def _files(run: Json) -> list[tuple[str, str]]:
    """Return name and id of the stored files: the parts of the video, and the thumbnail."""
    parts = run["recordings"]
    found = []
    for number, part in enumerate(parts, 1):
        suffix = SUFFIXES.get(part["media_type"], ".mp4")
        found.append((f"run-{number}{suffix}" if len(parts) > 1 else f"run{suffix}",
                      part["file_id"]))  # fmt: skip
    thumbnail = run["chat"].get("thumbnail_file_id")
    return [*found, ("thumbnail.jpg", thumbnail)] if thumbnail else found


async def _write(path: Path, text: str) -> None:
    await asyncio.to_thread(path.write_text, text)
