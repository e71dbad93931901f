"""The certificates by which clients recognize a service over TLS."""
