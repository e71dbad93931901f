"""Performing an action and observing its effect; frame ids; action and screenshot routes."""
