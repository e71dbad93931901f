"""Commands that save, list and replay playbooks."""
