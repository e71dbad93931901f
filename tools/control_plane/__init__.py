"""Common code of all routes: ports, errors, callers, settings, pages."""
