"""Keys, keyboard map and pointer; XTEST."""
