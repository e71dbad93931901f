"""Faults of the database that may pass: classification, retries, waits for their end."""
