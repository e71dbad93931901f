"""Calls of the tools, as requests to the routes of a desktop, and their results."""
