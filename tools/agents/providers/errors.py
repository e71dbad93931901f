"""Errors of the model adapters.

ModelError
├── ModelRefused            the request itself is at fault: do not send it again
├── KeyRefused              the provider does not accept the key
├── NoCredit                the provider accepts the key, but not without payment
├── LimitReached            the conversation is too large for one request
├── NoSummary               a checkpoint got no summary
│   └── CannotCompact       the provider makes none: ask the model itself
└── ModelUnavailable        worth another try later
    ├── ModelOverloaded     the provider asked us to slow down
    └── HostUnreachable     no connection to the provider
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


class KeyRefused(ModelError):
    """The provider does not accept the key."""

    kind = "model_key"

    def __init__(self, provider: str, variable: str, status: int) -> None:
        super().__init__(provider, variable, status)
        self.provider = provider
        self.variable = variable
        self.status = status

    def __str__(self) -> str:
        return (
            f"{self.provider} refused {self.variable} ({self.status}):"
            " set a valid key and run the same command again"
        )


class NoCredit(ModelError):
    """The provider accepts the key, but its account cannot pay for a request."""

    kind = "model_credit"

    def __init__(self, provider: str, variable: str) -> None:
        super().__init__(provider, variable)
        self.provider = provider
        self.variable = variable

    def __str__(self) -> str:
        return (
            f"{self.provider} accepted {self.variable}, but the account has no credit:"
            " add credit, or choose another provider with --model"
        )


class LimitReached(ModelError):
    """The conversation does not fit into one request to this model."""

    kind = "context_full"

    def __init__(self, limit: str, value: int | None) -> None:
        super().__init__(limit, value)
        self.limit = limit
        """Name of the limit, with its unit."""
        self.value = value
        """``None`` if it is not known."""

    def __str__(self) -> str:
        value = "" if self.value is None else f"{self.value:,} "
        return (
            f"the conversation has reached a limit of the model: {value}{self.limit}."
            " Start a new chat to go on"
        )


class NoSummary(ModelError):
    """The model, or its provider, returned no summary of a conversation."""

    kind = "no_summary"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"no summary of the conversation: {self.reason}"


class CannotCompact(NoSummary):
    """The adapter has no means to summarize a conversation."""

    def __init__(self) -> None:
        super().__init__("the provider makes none")


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


class HostUnreachable(ModelUnavailable):
    """No connection to the provider was made."""

    kind = "model_unreachable"

    def __init__(self, host: str, reason: str, attempts: int) -> None:
        super().__init__(reason, attempts)
        self.host = host

    def __str__(self) -> str:
        return (
            f"{self.host} cannot be reached: check the network or HTTPS_PROXY;"
            " doctor shows which hosts answer"
        )
