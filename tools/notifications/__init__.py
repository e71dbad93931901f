"""Notifications of people outside of the pages: events that are sent to a webhook."""
