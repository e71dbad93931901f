"""Deskhand as units of systemd: readiness, credentials, the launcher as a unit of its own."""
