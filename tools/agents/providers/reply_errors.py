"""Errors of a streamed reply, before an adapter has decided what they mean."""


class UnreadableReply(Exception):
    """The stream is not a reply of the protocol."""


class FailedReply(Exception):
    """The provider ended its reply with an error event."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message
