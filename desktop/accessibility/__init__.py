"""Widgets over AT-SPI: tree, refs, focus; password fields; host of the page that may get a text."""
