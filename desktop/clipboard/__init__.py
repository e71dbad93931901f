"""The clipboard and its routes."""
