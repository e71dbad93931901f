"""Everything this package raises on purpose.

BridgeError
├── UpstreamUnavailable   the RFB server cannot be reached
├── ProtocolBroken        a client does not speak RFB as we know it; its stream ends
├── CannotListen          the address is taken, or not ours to use
└── ClientGone            the client closed its connection before the response
"""


class BridgeError(Exception):
    """Base class of this package's exceptions."""


class UpstreamUnavailable(BridgeError):
    """The RFB server cannot be reached."""


class ProtocolBroken(BridgeError):
    """A client said what cannot be passed on; the text says what."""


class CannotListen(BridgeError):
    """A service cannot listen where it should."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(address, reason)
        self.address = address
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot listen on {self.address}: {self.reason}"


class ClientGone(BridgeError):
    """The client went away before it was answered."""

    def __str__(self) -> str:
        return "the client went away"
