"""Errors of the chats.

ChatError
├── UnknownTool           no such tool
├── BadChatRequest        an argument is missing or wrong
├── NoModel               no model is available; the text advises what to do
├── NoDesktop             no desktop is available; the text is the reason
└── Conflict              not possible in this state
    ├── IllegalMove       the table of states has no such transition
    └── MessageQueueFull  the queue of messages is full

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
    """An argument is missing or wrong; the text names it."""


class NoModel(ChatError):
    """No model is available; the text advises what to do."""


class NoDesktop(ChatError):
    """No desktop is available; the text is the reason."""


class Conflict(ChatError):
    """The operation is not possible in the chat's state."""


class IllegalMove(Conflict):
    """The table of states has no such transition."""

    def __init__(self, event: str, state: str) -> None:
        super().__init__(event, state)
        self.event = event
        self.state = state

    def __str__(self) -> str:
        return f"cannot {self.event} a chat that is {self.state}"


class MessageQueueFull(Conflict):
    """The queue of messages of the chat is full."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit

    def __str__(self) -> str:
        return f"chat message queue is full (max {self.limit})"
