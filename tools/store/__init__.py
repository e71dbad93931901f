"""Database rows, stored bytes, secrets."""
