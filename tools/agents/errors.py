"""What the chats may raise.

ChatError
├── UnknownChat       no such chat
├── UnknownFile       no such file
├── UnknownTool       no such tool
├── BadRequest        an argument is missing or wrong
├── NoModel           no model can answer; the sentence says what to do
├── NoDesktop         a desktop cannot be had; the sentence says why
└── Conflict          not in this state
    ├── IllegalMove   the table of states has no such move
    └── QueueFull     too many messages wait already
"""


class ChatError(Exception):
    """Base of the chats' errors."""


class UnknownChat(ChatError):
    """No such chat."""

    def __init__(self, chat_id: str) -> None:
        super().__init__(chat_id)
        self.chat_id = chat_id

    def __str__(self) -> str:
        return f"no chat has the id {self.chat_id}"


class UnknownFile(ChatError):
    """No such file."""

    def __init__(self, file_id: str) -> None:
        super().__init__(file_id)
        self.file_id = file_id

    def __str__(self) -> str:
        return f"no file has the id {self.file_id}"


class UnknownTool(ChatError):
    """No such tool."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(name, known)
        self.name = name
        self.known = known

    def __str__(self) -> str:
        return f"Tool not found: {self.name}; there are {', '.join(self.known)}"


class BadRequest(ChatError):
    """An argument is missing or wrong; the text says which."""


class NoModel(ChatError):
    """No model can answer; the text says what to do."""


class NoDesktop(ChatError):
    """A desktop cannot be had; the text says why."""


class Conflict(ChatError):
    """Not in the state that the chat is in."""


class IllegalMove(Conflict):
    """The table of states has no such move."""

    def __init__(self, event: str, state: str) -> None:
        super().__init__(event, state)
        self.event = event
        self.state = state

    def __str__(self) -> str:
        return f"cannot {self.event} a chat that is {self.state}"


class QueueFull(Conflict):
    """Too many messages wait already."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return f"chat message queue is full (max {self.limit})"
