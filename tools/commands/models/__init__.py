"""The command that lists the known models."""
