"""Errors of notifications.

DeliveryFailed    an attempt to send an event failed; the text is the reason
"""


class DeliveryFailed(Exception):
    """The receiver did not take an event."""
