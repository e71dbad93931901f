"""The socket by which programs of an agent ask their desktop's service."""
