"""Errors of backups.

BackupError
├── NoBackup        there is no backup at the place, or none of that name
├── DamagedBackup   a backup is not what was written
├── BackupBusy      another process works on the same directory
└── NotEmpty        the directory to restore into holds files already
"""


class BackupError(Exception):
    """Base of the errors of backups; the text is one line for people."""


class NoBackup(BackupError):
    """There is no backup at the place, or none of that name."""


class DamagedBackup(BackupError):
    """A backup is not what was written."""


class BackupBusy(BackupError):
    """Another process works on the same directory."""


class NotEmpty(BackupError):
    """The directory to restore into holds files already."""
