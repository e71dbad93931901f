"""Widgets of applications as reported over AT-SPI: tree, refs, keyboard focus, password fields."""
