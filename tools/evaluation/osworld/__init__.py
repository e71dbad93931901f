"""Import of OSWorld's task files."""
