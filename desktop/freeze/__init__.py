"""Stopping of an agent's processes while a person or a secret types."""
