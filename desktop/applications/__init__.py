"""Installed applications and launching them."""
