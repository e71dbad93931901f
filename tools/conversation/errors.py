"""Errors of the chats.

ChatError
├── UnknownTool           no such tool
├── BadChatRequest        an argument is missing or wrong
├── NoModel               no model is available; the text advises what to do
├── NoDesktop             no desktop is available; the text is the reason
└── Conflict              not possible in this state
    ├── IllegalMove       the table of states has no such transition
    ├── MessageQueueFull  the queue of messages is full
    ├── CallBegun         a call of this id has begun before
    └── QuestionClosed    the question has its answer already, or is no longer asked

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


class CallBegun(Conflict):
    """A call of this id has begun before in the turn of its chat."""


class QuestionClosed(Conflict):
    """The question is not open any more; the attributes are those of its end."""

    def __init__(
        self,
        question_id: str,
        state: str,
        answer: str | None,
        answered_by: str | None,
        closed_at: float | None,
    ) -> None:
        super().__init__(question_id, state, answer, answered_by, closed_at)
        self.question_id = question_id
        self.state = state
        self.answer = answer
        self.answered_by = answered_by
        self.closed_at = closed_at

    def __str__(self) -> str:
        if self.answer is not None:
            return f"the question was answered already: {self.answer}"
        return f"the question is {self.state}, and takes no answer any more"

    def to_json(self) -> dict[str, object]:
        """Return the end of the question in the form of the HTTP API."""
        return {
            "question": self.question_id,
            "state": self.state,
            "answer": self.answer,
            "answered_by": self.answered_by,
            "closed_at": self.closed_at,
        }
