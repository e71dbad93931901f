"""What the chats may raise.

ChatError
├── UnknownTool       no such tool
├── BadRequest        an argument is missing or wrong
├── NoModel           no model can answer; the sentence says what to do
├── NoDesktop         a desktop cannot be had; the sentence says why
└── Conflict          not in this state
    ├── IllegalMove   the table of states has no such move
    └── QueueFull     too many messages wait already

An unknown chat or file is the store's ``UnknownRow``.
"""


class ChatError(Exception):
    """Base of the chats' errors."""


class UnknownTool(ChatError):
    """No such tool."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(name, known)
        self.name = name
        self.known = known

    def __str__(self) -> str:
        return f"Tool not found: {self.name}; there are {', '.join(self.known)}"


class BadChatRequest(ChatError):
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


class MessageQueueFull(Conflict):
    """Too many messages wait already."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return f"chat message queue is full (max {self.limit})"
