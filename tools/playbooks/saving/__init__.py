"""Conversion of finished runs to playbooks."""
