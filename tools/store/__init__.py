"""Database rows and stored bytes."""
