"""Event bus of one desktop and its stream."""
