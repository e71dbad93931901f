"""Errors of remote access."""


class InvalidRemoteAccess(Exception):
    """A setting of remote access is wrong; ``setting`` is its name."""

    def __init__(self, setting: str, reason: str) -> None:
        super().__init__(setting, reason)
        self.setting = setting
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.setting}: {self.reason}"
