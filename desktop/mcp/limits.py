"""Times within which calls are answered, in seconds."""

LONGEST_CALL = 49.0
"""Every call is answered within 50 s, as many hosts give up after 60."""

LONGEST_WAIT = 44.0
"""Most of a wait for a command or an agent, which leaves time for its answer."""

PROGRESS = 4.0
"""Interval of progress reports; hosts are promised one in 5 s."""
