"""Errors of a gate.

GateError
├── NodeFull         the node takes no further desktop; the text says why
├── NotRemoved       something is in use, or not dead yet
└── UploadFailed     a file did not reach the bucket
"""


class GateError(Exception):
    """Base of the errors; the text is for people."""


class NodeFull(GateError):
    """The node takes no further desktop."""


class NotRemoved(GateError):
    """What has to be removed is still used."""


class UploadFailed(GateError):
    """A file did not reach the bucket."""
