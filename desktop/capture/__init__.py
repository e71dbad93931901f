"""Pixels and damage of the X display: frames, snapshots, subscriptions, settling."""
