"""X11 functions that xcffib does not provide: connection, EWMH, selections, shared memory."""
