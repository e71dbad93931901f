"""Errors of profiles.

ProfileError (also a ``DesktopError``)
├── ProfileInUse     a desktop has the profile
└── ProfileRefused   the profile cannot be used: too large, or its files cannot be checked
"""

from deskhand.desktop.errors import DesktopError


class ProfileError(DesktopError):
    """A desktop cannot have a profile; the text is the reason."""


class ProfileInUse(ProfileError):
    """Another desktop has the profile."""

    def __init__(self, name: str, holder: str) -> None:
        super().__init__(name, holder)
        self.name = name
        self.holder = holder
        """Name of the directory of that desktop, which is its id in a control plane."""

    def __str__(self) -> str:
        holder = f"the desktop {self.holder}" if self.holder else "another desktop"
        return f"the profile {self.name} is in use by {holder}"


class ProfileRefused(ProfileError):
    """The files of a profile cannot be used."""
