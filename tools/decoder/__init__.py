"""Decoding of bytes of desktops in short-lived processes without rights."""
