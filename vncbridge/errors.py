"""Exceptions of this package.

BridgeError
├── UpstreamUnavailable   the RFB server cannot be reached
├── ProtocolBroken        a client does not follow RFB; its stream ends
├── CannotListen          the address is in use, or not permitted
└── ClientGone            the client closed its connection before the response
"""


class BridgeError(Exception):
    """Base class of this package's exceptions."""


class UpstreamUnavailable(BridgeError):
    """The RFB server cannot be reached."""


class ProtocolBroken(BridgeError):
    """A client's message cannot be passed on; the text gives the reason."""


class CannotListen(BridgeError):
    """A service cannot listen on its address."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(address, reason)
        self.address = address
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot listen on {self.address}: {self.reason}"


class ClientGone(BridgeError):
    """The client disconnected before the response."""

    def __str__(self) -> str:
        return "the client went away"
