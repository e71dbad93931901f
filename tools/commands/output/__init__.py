"""Tables and live lines in the terminal."""
