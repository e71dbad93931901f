"""Refusals of tool calls; one class for each decision of the catcher.

ToolCallError
├── MalformedCall     the request names its tool call wrongly: 400
│   └── MalformedChat
├── CallRefused       the tool call's id was seen before: 409
└── OutcomeUnknown    the tool call broke off, it may have had an effect: 500
"""


class ToolCallError(Exception):
    """Base class of this folder's exceptions."""


class MalformedCall(ToolCallError):
    """The request names its tool call incompletely or in a wrong form."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message, detail)
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()


class MalformedChat(MalformedCall):
    """A chat header is no chat. Ignoring the header would show the caller every chat's data."""


class CallRefused(ToolCallError):
    """A tool call's id was seen before, so that executing it might be executing it twice."""

    def __init__(self, code: str, message: str, detail: str = "") -> None:
        super().__init__(code, message, detail)
        self.code = code
        """Identifier for programs, as ``input_mismatch`` or ``outcome_unknown``."""
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message} {self.detail}".strip()

    @classmethod
    def mismatch(cls) -> "CallRefused":
        """Return the refusal of an id that was used for something else."""
        return cls("input_mismatch", "The tool call's id was used before with different input.")

    @classmethod
    def unknown(cls, why: str) -> "CallRefused":
        """Return the refusal of an action that may or may not have been executed."""
        return cls("outcome_unknown", "Nobody knows whether the tool call was done.", why)

    @classmethod
    def restarted(cls) -> "CallRefused":
        """Return the refusal of a detached call that an earlier service began."""
        return cls(
            "outcome_unknown",
            "The machine was restarted after the tool call began: what came of it is not known.",
        )


class OutcomeUnknown(ToolCallError):
    """A tool call of this id began and broke off."""

    def __str__(self) -> str:
        return "The tool call broke off: its outcome is unknown."
