"""Redaction of known secrets."""
