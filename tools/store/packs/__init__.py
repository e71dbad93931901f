"""Packs: one object of the bucket with the pictures of many steps."""
