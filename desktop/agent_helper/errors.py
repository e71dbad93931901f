"""Errors of calls to the helper.

AgentHelperError
├── HelperEnded         it ended during the call, whose effect is not known
├── HelperUnavailable   it does not run, and the call was not sent
└── OperationFailed     an operation failed in an unexpected way
"""


class AgentHelperError(Exception):
    """A call of the helper has no result."""


class HelperEnded(AgentHelperError):
    """The helper ended during the call."""

    def __str__(self) -> str:
        return (
            "The process that works on the agent's files ended during this call; "
            "it is not known if the call took effect."
        )


class HelperUnavailable(AgentHelperError):
    """The helper does not run; the call was not sent."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        because = f": {self.reason}" if self.reason else ""
        return f"The process that works on the agent's files does not run{because}."


class OperationFailed(AgentHelperError):
    """An operation raised an error that is none of its own."""
