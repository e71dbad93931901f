"""Files of a spawn, which are in the chat's working directory before its first step.

They are written through the chat's desktop, with the rights of its agent. After that their row is
emptied, so that a later turn writes nothing again; a start that a crash cut off repeats all of it.
"""

import posixpath
from collections.abc import Awaitable, Callable

from deskhand.tools.agents.desktops.ports import DesktopMachine
from deskhand.tools.conversation.chat_start import ChatStart, StartFile
from deskhand.tools.conversation.errors import NoDesktop
from deskhand.tools.kit.support.spec import MachineRefused
from deskhand.tools.kit.support.workdir_path import working_directory
from deskhand.tools.store.database import Store
from deskhand.tools.store.errors import StoreError
from deskhand.tools.store.stored_files import StoredFiles

from .rows import files_placed, unplaced


class StartFiles:
    """Prepares the working directories of chats; ``machine`` returns a chat's machine."""

    def __init__(
        self,
        store: Store,
        files: StoredFiles,
        machine: Callable[[str], Awaitable[DesktopMachine]],
    ) -> None:
        self._store = store
        self._files = files
        self._machine = machine

    async def place(self, chat_id: str) -> None:
        """Create the working directory of a chat with its files, if that is still to be done.

        Raises:
            NoDesktop: If a file cannot be written; the text is the reason.
        """
        start = await self._store.read_short(lambda s: unplaced(s, chat_id))
        if start is None:
            return
        if start.workdir or start.files:
            await self._place(start, await self._machine(chat_id))
        await self._store.write(lambda s: files_placed(s, chat_id))

    async def _place(self, start: ChatStart, machine: DesktopMachine) -> None:
        try:
            folder = await working_directory(machine, start.workdir)
            await machine.request("POST", "/api/v0/make-directory", params={"path": folder})
            for file in start.files:
                await self._write(machine, folder, file)
        except (MachineRefused, OSError, StoreError) as error:
            raise NoDesktop(f"its working directory could not be prepared: {error}") from error

    async def _write(self, machine: DesktopMachine, folder: str, file: StartFile) -> None:
        path, data = file.path, (file.content or "").encode()
        if file.file_id is not None:
            path = path or posixpath.basename((await self._files.get(file.file_id)).name)
            data = await self._files.load(file.file_id)
        target = posixpath.join(folder, path)
        await machine.request("POST", "/api/v0/write-file", params={"path": target}, content=data)
