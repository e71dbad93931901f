"""Widgets of applications over AT-SPI: tree, refs, focus; password fields; host of the page."""
