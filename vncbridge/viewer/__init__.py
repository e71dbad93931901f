"""The live-view page and noVNC."""
