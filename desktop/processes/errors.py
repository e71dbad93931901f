"""Errors of the process core.

ProcessError
├── BadProcessRequest     malformed request: 400
├── UnknownProcess        no such process, or one of another chat: 404
├── NotRunning            the process has exited: 409
├── InputClosed           stdin is closed: 409
├── NoTerminal            the process has no terminal: 409
├── OutputNotKept         not all bytes of the output are there any more: 409
├── TooManyOutputStreams  repeat later: 429
└── StartFailed           the system refused to start it: 500
    └── NoRoomForOutput   there is no room for the copy of its output: 507
"""

from deskhand.desktop.tool_calls.errors import ToolCallError


class ProcessError(ToolCallError):
    """Base class of the process core's own errors; `tool_calls.errors` has those of tool calls."""


class BadProcessRequest(ProcessError):
    """The request is malformed."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message, detail)
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class UnknownProcess(ProcessError):
    """No process of that id is visible to the caller."""

    def __init__(self, process_id: str) -> None:
        super().__init__(process_id)
        self.process_id = process_id

    def __str__(self) -> str:
        return f"Process {self.process_id!r} was not found."


class NotRunning(ProcessError):
    """The process has exited already."""

    def __init__(self, process_id: str) -> None:
        super().__init__(process_id)
        self.process_id = process_id

    def __str__(self) -> str:
        return f"Process {self.process_id!r} is not running any more."


class InputClosed(ProcessError):
    """The process was started without input, or does not read it any more."""

    def __init__(self, process_id: str) -> None:
        super().__init__(process_id)
        self.process_id = process_id

    def __str__(self) -> str:
        return f"Process {self.process_id!r} takes no input."


class NoTerminal(ProcessError):
    """The process was started without a terminal, or has left it."""

    def __init__(self, process_id: str) -> None:
        super().__init__(process_id)
        self.process_id = process_id

    def __str__(self) -> str:
        return f"Process {self.process_id!r} runs in no terminal."


class OutputNotKept(ProcessError):
    """Not all bytes of the output are there any more; ``reason`` is a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class TooManyOutputStreams(ProcessError):
    """The limit of open output streams is reached."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most

    def __str__(self) -> str:
        return f"At most {self.most} streams may be open at once."


class StartFailed(ProcessError):
    """The system refused to start the process."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class NoRoomForOutput(StartFailed):
    """The disk is full, or almost, so that the output could not be copied to its file."""
