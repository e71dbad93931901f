"""Everything this package raises on purpose.

BridgeError
└── UpstreamUnavailable   the RFB server cannot be reached
"""


class BridgeError(Exception):
    """Base class of this package's exceptions."""


class UpstreamUnavailable(BridgeError):
    """The RFB server cannot be reached."""
