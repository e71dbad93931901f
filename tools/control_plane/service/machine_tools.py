"""The tools of chats that work on their computer."""

import time

from deskhand.tools.control_plane.settings import Settings
from deskhand.tools.kit.browser import BrowserTool
from deskhand.tools.kit.edit_files import EditFilesTool
from deskhand.tools.kit.execute import ExecuteTool
from deskhand.tools.kit.process_list import ProcessListTool
from deskhand.tools.kit.process_output import ProcessOutputTool
from deskhand.tools.kit.process_signal import ProcessSignalTool
from deskhand.tools.kit.read_file import ReadFileTool
from deskhand.tools.kit.read_screen import ReadScreenTool
from deskhand.tools.kit.search_files import SearchFilesTool
from deskhand.tools.kit.support.spec import Tool
from deskhand.tools.kit.wait_for import WaitForTool
from deskhand.tools.kit.write_file import WriteFileTool
from deskhand.tools.store.pictures import ChatPictures
from deskhand.tools.store.stored_files import StoredFiles

MACHINE_TOOLS: tuple[Tool, ...] = (
    ExecuteTool(),
    ProcessOutputTool(),
    ProcessListTool(),
    ProcessSignalTool(),
    ReadFileTool(),
    WriteFileTool(),
    EditFilesTool(),
    SearchFilesTool(),
    ReadScreenTool(),
)
"""The tools that work on a chat's computer and store nothing."""


def machine_tools(files: StoredFiles, settings: Settings) -> tuple[Tool, ...]:
    """Return the tools, of which some store pictures in ``files``."""

    def pictures(chat: str) -> ChatPictures:
        return ChatPictures(files, chat, time.time)

    browser = (BrowserTool(pictures),) if settings.browser_tools else ()
    return (*MACHINE_TOOLS, WaitForTool(pictures), *browser)
