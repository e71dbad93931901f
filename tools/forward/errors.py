"""Errors of forwarding; all are reported to the person who started it.

ForwardError
├── PortInUse        the port cannot be had
├── DialectOff       the desktop does not speak the protocol
└── UpgradeRefused   the service refuses the stream of one viewer
"""


class ForwardError(Exception):
    """Base class of this folder's errors."""


class PortInUse(ForwardError):
    """The requested port is in use, or none near the default one is free."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.port = port

    def __str__(self) -> str:
        return f"port {self.port} is in use; give another --port, or none"


class DialectOff(ForwardError):
    """The desktop does not speak the dialect."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return (
            f"this desktop does not speak {self.name}: start it with `--speak {self.name}` "
            f'(of a control plane: speak = ["{self.name}"])'
        )


class UpgradeRefused(ForwardError):
    """The service refuses a WebSocket."""
