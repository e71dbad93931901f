"""Errors of commands of cua.

CuaError
├── RefusedCommand  no such command, or not served, or no command at all; answered 400
└── FailedCommand   wrong parameters, or the command cannot be done; answered ``success: false``
"""


class CuaError(Exception):
    """Base class; the text is for the client."""


class RefusedCommand(CuaError):
    """The request names no command that is served."""


class FailedCommand(CuaError):
    """The command was not done."""
