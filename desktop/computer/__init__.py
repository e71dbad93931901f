"""Performing an action and observing its effect; the action and screenshot routes."""
