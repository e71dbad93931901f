"""Capture and input on a screen that exists already (mss, PyAutoGUI)."""
