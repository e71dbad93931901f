"""The content of a page: its tree, refs, search, text, console and requests. Pure."""
