"""Calls of the service's own routes from inside its process, for other protocols."""
