"""The picture behind all windows."""
