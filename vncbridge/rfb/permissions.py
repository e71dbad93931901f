"""What of a client's messages reaches the desktop, by its role."""

from typing import Literal

from .messages import ClientMessage, MessageKind

Role = Literal["view", "control"]

VIEW_MESSAGES = frozenset(
    {
        *(
            MessageKind.VERSION,
            MessageKind.SECURITY,
            MessageKind.INIT,
            MessageKind.PIXEL_FORMAT,
            MessageKind.ENCODINGS,
        ),
        *(MessageKind.UPDATE_REQUEST, MessageKind.CONTINUOUS_UPDATES, MessageKind.FENCE),
    }
)
"""What everybody may say."""

INPUT_MESSAGES = frozenset({MessageKind.KEY, MessageKind.POINTER})
"""What only the one in control may say.

Cut texts, sizes and power are nobody's: the clipboard is an API, the size is the service's.
"""


def passes(message: ClientMessage, role: Role) -> bool:
    """Return whether a message goes on to the desktop."""
    return message.kind in VIEW_MESSAGES or (role == "control" and message.kind in INPUT_MESSAGES)


def is_press(message: ClientMessage) -> bool:
    """Return whether this is a deed: a key or a button pressed, not a pointer passing by."""
    return message.down or message.buttons != 0


def min_role(*roles: str) -> Role:
    """Return the least of some roles; a word that is none counts as ``view``."""
    return "control" if all(role == "control" for role in roles) else "view"
