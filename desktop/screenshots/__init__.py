"""Encoding of a frame as PNG, JPEG or WebP."""
