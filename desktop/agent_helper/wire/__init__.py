"""Messages between the service and the helper. Pure."""
