"""Targets of actions: the widget and the pixels at a point, and the search for the same again."""
