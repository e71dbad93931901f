"""Errors of the decoding.

DecoderError
├── NotDecodable    the bytes needed too much time or memory, or killed their process (422)
└── DecoderEnded    the decoder process has ended (503)
"""


class DecoderError(Exception):
    """Base of all errors of the decoder."""


class NotDecodable(DecoderError):
    """Bytes that cannot be decoded within the limits of time and memory."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class DecoderEnded(DecoderError):
    """The decoder process has ended, so nothing can be decoded until the next start."""

    def __str__(self) -> str:
        return "the decoder process has ended; restart the control plane"
