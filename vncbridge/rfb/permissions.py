"""What of a client's messages reaches the desktop, by its role."""

from typing import Literal

from .messages import Kind, Message

Role = Literal["view", "control"]

LOOKING = frozenset(
    {
        *(Kind.VERSION, Kind.SECURITY, Kind.INIT, Kind.PIXEL_FORMAT, Kind.ENCODINGS),
        *(Kind.UPDATE_REQUEST, Kind.CONTINUOUS_UPDATES, Kind.FENCE),
    }
)
"""What everybody may say."""

ACTING = frozenset({Kind.KEY, Kind.POINTER})
"""What only the one in control may say.

Cut texts, sizes and power are nobody's: the clipboard is an API, the size is the service's.
"""


def passes(message: Message, role: Role) -> bool:
    """Return whether a message goes on to the desktop."""
    return message.kind in LOOKING or (role == "control" and message.kind in ACTING)


def asks_for_control(message: Message) -> bool:
    """Return whether this is a deed: a key or a button pressed, not a pointer passing by."""
    return message.down or message.buttons != 0


def lowest(*roles: str) -> Role:
    """Return the least of some roles; a word that is none counts as ``view``."""
    return "control" if all(role == "control" for role in roles) else "view"
