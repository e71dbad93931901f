"""Prometheus metrics of the control plane."""
