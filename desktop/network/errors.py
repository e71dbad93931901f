"""Errors of egress.

DesktopError
├── InvalidEgress      the setting is wrong: a mode, a name of the list, a grant
│   └── EgressWidened  an agent asked for more than its own desktop may reach
└── EgressUnavailable  it cannot be enforced on this machine
"""

from deskhand.desktop.errors import DesktopError


class InvalidEgress(DesktopError):
    """The setting is wrong; the text states the reason."""


class EgressWidened(InvalidEgress):
    """A child was to reach more than its parent."""


class EgressUnavailable(DesktopError):
    """The egress cannot be enforced here; the text names what is missing."""
