"""The stored playbooks of a data directory."""
