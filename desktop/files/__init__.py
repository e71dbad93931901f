"""The file core: read, write, edit, search, watch, and its routes."""
