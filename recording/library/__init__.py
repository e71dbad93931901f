"""Recordings on disk: catalog, metadata, chapters, faststart."""
