"""The desktop's browser: which program it is, and whether its sandbox works."""
