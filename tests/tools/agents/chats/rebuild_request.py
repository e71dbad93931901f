"""Another process: rebuilds the newest request of a chat from the store alone.

Reads lines with the path of the database, of the stored files, the chat's id and its model,
separated by tabs; writes the digest of the request's body for each.
"""

import asyncio
import hashlib
import sys
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncSession

from deskhand.tools.agents.chats.prompt_head import head_from_json
from deskhand.tools.agents.checkpoints import rows as checkpoints
from deskhand.tools.agents.checkpoints.checkpoint import Checkpoint
from deskhand.tools.agents.loop.prepared_history import prepared
from deskhand.tools.agents.providers.anthropic import wire
from deskhand.tools.agents.providers.merged_messages import merged, picture_ids
from deskhand.tools.agents.providers.port import Prompt
from deskhand.tools.conversation.conversation import Message
from deskhand.tools.store import chats, messages
from deskhand.tools.store.database import Store
from deskhand.tools.store.file_store import FileStore


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


async def rebuilt(database: Path | str, files: Path, chat_id: str, model: str) -> str:
    async def read(
        session: AsyncSession,
    ) -> tuple[dict[str, object], str, tuple[Message, ...], Checkpoint]:
        head = await messages.fixed_head(session, chat_id, {}, 0.0)
        mode = (await chats.get(session, chat_id)).mode
        newest = await checkpoints.newest(session, chat_id) or Checkpoint((), 0, 0)
        return head, mode, await messages.history(session, chat_id), newest

    async with await Store.open(database) as store:
        content, mode, history, checkpoint = await store.read(read)
    head = head_from_json(content)
    sent = prepared(checkpoint.sent(history), keep=None)
    tools = checkpoint.tools or head.tools
    prompt = Prompt(head.system, sent, tools, mode == "computer_use", model)
    disk = FileStore(files)
    pictures = {one: disk.load(one) for one in picture_ids(prompt.messages)}
    parts = [wire.message_part(one, pictures) for one in merged(prompt.messages)]
    return digest(wire.encoded(prompt, parts, drop_block=True))


def main() -> None:
    for line in sys.stdin:
        database, files, chat_id, model = line.rstrip("\n").split("\t")
        place = database if "://" in database else Path(database)
        answer = asyncio.run(rebuilt(place, Path(files), chat_id, model))
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
