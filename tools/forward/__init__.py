"""A local port on which ordinary clients reach a desktop without a token."""
