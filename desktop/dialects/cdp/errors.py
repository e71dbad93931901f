"""Errors of the Chrome DevTools Protocol of a desktop.

CdpError
├── CdpFailed     the browser refuses a request: 404
└── BrowserGone   there is no browser: 503
"""


class CdpError(Exception):
    """Base class of this folder's errors."""


class CdpFailed(CdpError):
    """The browser answers a request with an error."""


class BrowserGone(CdpError):
    """The browser does not run, or does not answer."""
