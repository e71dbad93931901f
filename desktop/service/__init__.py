"""Composition and serving of everything for one display or for an attached screen."""
