"""Composition of the control plane."""
