"""Pages of the desktop's browser, read and used by members of a browser toolset."""
