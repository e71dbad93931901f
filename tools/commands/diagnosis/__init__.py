"""Checks of `deskhand doctor`: programs that are started, measures of the machine, and repairs."""
