"""Errors of the model adapters.

ModelError
├── ModelRefused            the request itself is at fault: do not send it again
└── ModelUnavailable        worth another try later
    └── ModelOverloaded     the provider asked us to slow down
"""


class ModelError(Exception):
    """A model returned no usable reply. ``kind`` is for programs."""

    kind = "model"


class ModelRefused(ModelError):
    """The provider rejects the request; a retry cannot help."""

    kind = "model_refused"

    def __init__(self, status: int, message: str, advice: str = "") -> None:
        super().__init__(status, message, advice)
        self.status = status
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        text = f"the model provider refused the request ({self.status}): {self.message}"
        return f"{text}. {self.advice}" if self.advice else text


class ModelUnavailable(ModelError):
    """No reply after all attempts: network, time-out, or the provider's own failure."""

    kind = "model_unavailable"

    def __init__(self, reason: str, attempts: int) -> None:
        super().__init__(reason, attempts)
        self.reason = reason
        self.attempts = attempts

    def __str__(self) -> str:
        return f"no reply from the model after {self.attempts} attempts: {self.reason}"


class ModelOverloaded(ModelUnavailable):
    """The provider kept answering that it, or this account, is at its limit."""

    kind = "model_overloaded"
