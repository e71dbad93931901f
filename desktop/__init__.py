"""One display: X server, screenshots, input, actions and its HTTP service."""
